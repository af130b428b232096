/**
 * `npm run demo`: what Brain is for, in a few seconds. A server is killed while a tool runs; started again on the same
 * directory, it says what became of the turn, and the conversation goes on.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Demonstration } from './demo/demonstration.ts';
import { Narration } from './demo/narration.ts';

const startedAt = performance.now();
const narration = new Narration({
  write: (text) => process.stdout.write(text),
  hasColors: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
});
const dataDirectory = await mkdtemp(path.join(tmpdir(), 'brain-demo-'));
const demonstration = new Demonstration(narration, dataDirectory);

const interrupted = new AbortController();
const signalled = new Promise<number>((resolve) => {
  for (const [signal, exitCode] of [['SIGINT', 130], ['SIGTERM', 143]] as const) {
    process.once(signal, () => {
      interrupted.abort();
      resolve(exitCode);
    });
  }
});
process.exitCode = await Promise.race([tell(), signalled]);
await demonstration.close();
await rm(dataDirectory, { recursive: true, force: true });

async function tell(): Promise<number> {
  try {
    await demonstration.tell();
    const seconds = (performance.now() - startedAt) / 1000;
    narration.success(`${seconds.toFixed(1)} seconds, one kill, nothing lost and nothing done twice.`);
    return 0;
  } catch (error) {
    // Whoever interrupts takes the server away from under the story.
    if (!interrupted.signal.aborted) narration.alarm(`The demonstration failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}
