/** Sessions of 50, 5,000 and 50,000 records: what the first access costs, and whether an append costs more in a long one. */
import { dataDirectory, type Bench } from './bench.ts';
import { journalOfTurns, RECORDS_PER_TURN } from './journal-of-turns.ts';
import { writeJournals } from './journal-writer.ts';
import { inParallel } from './in-parallel.ts';
import { timed } from './load.ts';
import { ServerUnderTest } from './server-under-test.ts';
import { spreadOf } from './statistics.ts';

const SIZES = [50, 5_000, 50_000] as const;
const SHORT_ROUNDS = 3;
const LONG_ROUNDS = 9;
const SAMPLES = 20;
const WARM_UP = 100;
const REOPENINGS = 9;

export async function measureLongSessions(bench: Bench): Promise<void> {
  const { findings, yardsticks, isLong } = bench;
  const directory = await dataDirectory(bench);
  const rounds = isLong ? LONG_ROUNDS : SHORT_ROUNDS;
  const idsOf = new Map<number, readonly string[]>();
  for (const [index, size] of SIZES.entries()) {
    const records = journalOfTurns(Math.round(size / RECORDS_PER_TURN), { retain: 0 });
    idsOf.set(size, await writeJournals({ directory, sessions: rounds, records, firstIndex: index * rounds }));
  }
  const server = await ServerUnderTest.start({ dataDirectory: directory, modelUrl: bench.model.client.url });
  const append = (id: string, value: number): Promise<number> => timed(() => server.client.patch(`/v1/sessions/${id}`, { metadata: { value: String(value) } }));
  const warm = await server.client.create();
  for (let time = 0; time < WARM_UP; time += 1) await append(warm, time);
  for (let round = 0; round < rounds; round += 1) {
    const idOf = (size: number): string => idsOf.get(size)?.[round] ?? '';
    for (const size of SIZES) {
      findings.add(`open_${size}`, await append(idOf(size), -1));
      const again = await inParallel(Array.from({ length: REOPENINGS }), 1, () => append(idOf(size), -2));
      findings.add(`reopen_${size}`, spreadOf(again)?.middle ?? 0);
      // A session that was read from its journal stays in memory from its next turn on.
      await server.client.send(idOf(size), 'Stay here.');
    }
    let value = 0;
    const told = await yardsticks.inFlushes(SAMPLES, async () => {
      value += 1;
      return {
        'append at 50 records': await append(idOf(50), value),
        'append at 5,000 records': await append(idOf(5_000), value),
        'append at 50,000 records': await append(idOf(50_000), value),
      };
    });
    findings.add('append_50', told['append at 50 records']);
    findings.add('append_5000', told['append at 5,000 records']);
    findings.add('append_50000', told['append at 50,000 records']);
    findings.add('append_growth', told['append at 50,000 records'] / told['append at 50 records']);
  }
  await server.stop();
}
