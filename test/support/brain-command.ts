/** The built command `brain`, as a process of its own. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { BrainApi } from './brain-api.ts';
import { endOf, type CommandEnd } from './command-end.ts';

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../..');
const BRAIN_COMMAND = path.join(PROJECT_ROOT, 'dist/cli/brain.js');
const START_MS_MAX = 60_000;

export async function runBrain(...line: readonly string[]): Promise<CommandEnd> {
  return endOf(process.execPath, [BRAIN_COMMAND, ...line], { cwd: PROJECT_ROOT });
}

/** A line for a shell, in which `brain` is the command. */
export async function runInShell(line: string): Promise<CommandEnd> {
  return endOf('bash', ['-c', `brain() { '${process.execPath}' '${BRAIN_COMMAND}' "$@"; }; ${line}`], { cwd: PROJECT_ROOT });
}

/**
 * As somebody runs it who has the project, built, and no registry at hand. What npm tells the tests, when it starts them,
 * would be told to this npx too, such as another package to look in.
 */
export async function runWithNpx(...line: readonly string[]): Promise<CommandEnd> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  return endOf('npx', ['--offline', 'brain', ...line], { cwd: PROJECT_ROOT, env });
}

export interface Inspection {
  readonly api: BrainApi;
  /** SIGTERM; answers the exit code. */
  end(): Promise<number | null>;
}

export async function startInspection(directory: string): Promise<Inspection> {
  const child = spawn(process.execPath, [BRAIN_COMMAND, 'inspect', directory], { stdio: ['ignore', 'pipe', 'pipe'] });
  const killWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      process.removeListener('exit', killWithUs);
      resolve(code);
    });
  });
  let told = '';
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the inspection did not start within ${START_MS_MAX} ms: ${told}`)), START_MS_MAX);
    const listen = (piece: string): void => {
      told += piece;
      const address = /^brain shows .*, read-only, on (http:\/\/\S+)\/inspector$/m.exec(told)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    };
    child.stdout.setEncoding('utf8').on('data', listen);
    child.stderr.setEncoding('utf8').on('data', listen);
    void exited.then((code) => reject(new Error(`the inspection ended with ${code}: ${told}`)));
  });
  return {
    api: new BrainApi(url),
    end: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
