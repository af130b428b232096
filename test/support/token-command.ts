/** The built command that makes, lists and revokes tokens, as a process of its own. */
import path from 'node:path';
import { endOf, type CommandEnd } from './command-end.ts';

const TOKEN_COMMAND = path.resolve(import.meta.dirname, '../../dist/cli/token.js');

export async function runTokenCommand(environment: Readonly<Record<string, string>>, ...line: readonly string[]): Promise<CommandEnd> {
  return endOf(process.execPath, [TOKEN_COMMAND, ...line], { env: { PATH: process.env['PATH'], ...environment } });
}

/** A new token; throws where there is none. */
export async function createToken(environment: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<string> {
  const { code, output, errors } = await runTokenCommand(environment, 'create', ...flags);
  if (code !== 0) throw new Error(`no token was created: ${errors}`);
  return output.trimEnd();
}
