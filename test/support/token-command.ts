/** The built command that makes, lists and revokes tokens, as a process of its own. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';

const TOKEN_COMMAND = path.resolve(import.meta.dirname, '../../dist/cli/token.js');

export interface CommandEnd {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

export async function runTokenCommand(environment: Readonly<Record<string, string>>, ...line: readonly string[]): Promise<CommandEnd> {
  const child = spawn(process.execPath, [TOKEN_COMMAND, ...line], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...environment },
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, output, errors };
}

/** A new token; throws where there is none. */
export async function createToken(environment: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<string> {
  const { code, output, errors } = await runTokenCommand(environment, 'create', ...flags);
  if (code !== 0) throw new Error(`no token was created: ${errors}`);
  return output.trimEnd();
}
