/** A start of the built server that is to fail: what it says, and how it ends. */
import { endOf, type CommandEnd } from './command-end.ts';
import { START_COMMAND } from './server-process.ts';

/** Its code is null where it goes on for a minute: then it has started. */
export async function failedStart(
  flags: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const all = Object.entries({ '--listen': '127.0.0.1:0', ...flags }).flat();
  return endOf(process.execPath, [START_COMMAND, ...all], { env: { PATH: process.env['PATH'], BRAIN_LOG_LEVEL: 'warn', ...environment } });
}
