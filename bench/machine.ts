/** On what a run was made: figures of two machines are not to be compared, and their ratios with care. */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { promisify } from 'node:util';

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly filesystem: string;
  readonly disk: string;
  readonly node: string;
  readonly commit: string;
}

/** `directory`: the one that the servers write to. */
export async function describeMachine(directory: string): Promise<Machine> {
  const processors = cpus();
  return {
    processor: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    filesystem: await filesystemOf(directory),
    disk: await diskOf(directory),
    node: process.version,
    commit: await commitOf(import.meta.dirname),
  };
}

/** As the kernel names it: that of the longest mount above the directory. */
async function filesystemOf(directory: string): Promise<string> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
  const above = mounts.filter(([, at = '']) => at === '/' || directory === at || directory.startsWith(`${at}/`));
  const nearest = above.toSorted(([, left = ''], [, right = '']) => right.length - left.length)[0];
  return nearest?.[2] ?? 'unknown';
}

async function diskOf(directory: string): Promise<string> {
  const { dev } = await stat(directory);
  // As Linux packs the two numbers of a device, for those below 256 and 4096.
  const device = `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`;
  const turns = await readFile(`/sys/dev/block/${device}/queue/rotational`, 'utf8').catch(() => null);
  if (turns === null) return 'unknown';
  return turns.trim() === '0' ? 'solid state, or virtual' : 'rotating';
}

async function commitOf(directory: string): Promise<string> {
  const git = async (...words: readonly string[]): Promise<string> => (await promisify(execFile)('git', words, { cwd: directory })).stdout.trim();
  try {
    const commit = await git('rev-parse', '--short=12', 'HEAD');
    return (await git('status', '--porcelain', '--untracked-files=no')) === '' ? commit : `${commit} with changes`;
  } catch {
    return 'unknown';
  }
}
