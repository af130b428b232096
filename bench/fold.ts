/**
 * `node dist/bench/fold.js [ROUNDS]`: what folding a journal costs, in one process and without its files: the processor time
 * for a thousand records, and for the same records only decoded.
 */
import { SessionState } from '../machines/replay.ts';
import { decodeRecords } from '../services/record-codec.ts';
import { journalOfTurns } from './journal-of-turns.ts';
import { framesOf } from './journal-writer.ts';

const TURNS = 334;
const ROUNDS = 40;

const records = journalOfTurns(TURNS);
const payloads = framesOf(records).map(({ payload }) => payload);

function decode(): void {
  for (const payload of payloads) decodeRecords(payload);
}

function fold(): void {
  const state = SessionState.empty();
  for (const payload of payloads) for (const record of decodeRecords(payload)) state.apply(record);
}

/** In milliseconds of processor time for a thousand records: the least of the rounds, which others disturbed least. */
function costOf(work: () => void, rounds: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / records.length);
  }
  return least;
}

const rounds = Number(process.argv[2] ?? ROUNDS);
const decoding = costOf(decode, rounds);
const folding = costOf(fold, rounds);
process.stdout.write(`decode ${decoding.toFixed(2)} ms, fold ${folding.toFixed(2)} ms for 1,000 records: ${(folding / decoding).toFixed(1)} times\n`);
