/** A start of the built server that is to fail: what it says, and how it ends. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { START_COMMAND } from './server-process.ts';

export interface FailedStart {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Rejects where it goes on for a minute: then it has started. */
export async function failedStart(
  flags: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
): Promise<FailedStart> {
  const all = Object.entries({ '--listen': '127.0.0.1:0', ...flags }).flat();
  const child = spawn(process.execPath, [START_COMMAND, ...all], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], BRAIN_LOG_LEVEL: 'warn', ...environment },
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, output, errors };
}
