/** A command that is run to its end, as a process of its own. */
import { spawn, type SpawnOptions } from 'node:child_process';
import { text } from 'node:stream/consumers';

const END_MS_MAX = 60_000;

export interface CommandEnd {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** One that is not over by itself within a minute is killed: its code is null. */
export async function endOf(command: string, line: readonly string[], { cwd, env }: Pick<SpawnOptions, 'cwd' | 'env'> = {}): Promise<CommandEnd> {
  const child = spawn(command, line, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: END_MS_MAX, killSignal: 'SIGKILL' });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, output, errors };
}
