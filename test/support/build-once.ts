/** Builds the server before the first test that starts it. A build that fails fails them all, with the compiler's words. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../..');

export async function setup(): Promise<void> {
  try {
    await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: PROJECT_ROOT });
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
    throw new Error(`the server does not build\n${said}`, { cause: error });
  }
}
