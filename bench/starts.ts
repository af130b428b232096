/** How long a start takes: of nothing, of ten thousand sessions, and of a million records without any checkpoint. */
import { spawn } from 'node:child_process';
import { dataDirectory, type Bench } from './bench.ts';
import { journalOfTurns, RECORDS_PER_TURN } from './journal-of-turns.ts';
import { writeJournals } from './journal-writer.ts';
import { inParallel } from './in-parallel.ts';
import { timed } from './load.ts';
import { ServerUnderTest } from './server-under-test.ts';

const SESSIONS = 10_000;
const LONG_SESSIONS = 200;
const RECORDS_EACH = 5_000;
const REBUILD_WIDTH = 8;

export async function measureStarts(bench: Bench): Promise<void> {
  const { findings, isLong } = bench;
  const rounds = isLong ? 20 : 7;
  for (let round = 0; round < rounds; round += 1) {
    const nothing = await timed(runNothing);
    const server = await start(bench, await dataDirectory(bench));
    findings.add('cold_start', server.program.readyMs / nothing);
    await server.stop();
  }
  await startWithMany(bench);
  if (isLong) await rebuildMillion(bench);
  else findings.note('left out: 5,000 followers, and a million records rebuilt; --long has them');
}

async function startWithMany(bench: Bench): Promise<void> {
  const { findings, isLong } = bench;
  const directory = await dataDirectory(bench);
  const ids = await writeJournals({ directory, sessions: SESSIONS, records: journalOfTurns(1) });
  for (let round = 0; round < (isLong ? 9 : 3); round += 1) {
    const server = await start(bench, directory);
    findings.add('start_10000', server.program.readyMs / 1000);
    const id = ids[Math.floor((ids.length * (round + 1)) / 11)] ?? '';
    findings.add('access_10000', await timed(() => server.client.get(`/v1/sessions/${id}`)));
    await server.stop();
  }
}

/** Until each of the sessions was shown, which is after it was folded from its first record. */
async function rebuildMillion(bench: Bench): Promise<void> {
  const directory = await dataDirectory(bench);
  const records = journalOfTurns(Math.ceil(RECORDS_EACH / RECORDS_PER_TURN));
  const ids = await writeJournals({ directory, sessions: LONG_SESSIONS, records });
  const startedAt = performance.now();
  const server = await start(bench, directory);
  await inParallel(ids, REBUILD_WIDTH, (id) => server.client.get(`/v1/sessions/${id}`));
  bench.findings.add('rebuild_million', (performance.now() - startedAt) / 1000);
  bench.findings.note(`a million records: ${ids.length} sessions of ${records.length.toLocaleString('en')} each`);
  await server.stop();
}

function start(bench: Bench, directory: string): Promise<ServerUnderTest> {
  return ServerUnderTest.start({ dataDirectory: directory, modelUrl: bench.model.client.url });
}

async function runNothing(): Promise<void> {
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
}
