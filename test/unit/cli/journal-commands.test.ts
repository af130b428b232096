import { describe, expect, it } from 'vitest';
import { JOURNAL_COMMANDS } from '../../../cli/journal/commands.ts';
import { LocateError, locateSessions } from '../../../cli/journal/locate.ts';
import { Verdict } from '../../../cli/journal/verdict.ts';
import type { SessionRecord } from '../../../machines/records.ts';
import { encodeFrame, readFrameHeader, SEGMENT_HEADER_BYTES } from '../../../storage/frame.ts';
import { segmentName } from '../../../storage/segment.ts';
import { DATA, type LivingBrain } from '../../support/living-brain.ts';
import type { SimulatedDisk } from '../../support/simulated-disk.ts';
import { RETURNED, TurnStage } from '../../support/turn-stage.ts';

interface Told {
  readonly lines: readonly string[];
  readonly warnings: readonly string[];
  readonly exitCode: number;
}

async function tell(disk: SimulatedDisk, command: keyof typeof JOURNAL_COMMANDS, path: string): Promise<Told> {
  const process = disk.boot();
  const verdict = new Verdict();
  const warnings: string[] = [];
  const lines: string[] = [];
  const sessions = await locateSessions(process, path);
  const made = JOURNAL_COMMANDS[command]({ disk: process, sessions, verdict, warn: (line) => void warnings.push(line) });
  for await (const line of made) lines.push(line);
  return { lines, warnings, exitCode: verdict.exitCode };
}

/** A session with a turn behind it, and what its journal says. */
async function recorded(): Promise<{ brain: LivingBrain; sessionId: string; file: string; records: readonly SessionRecord[] }> {
  const stage = await TurnStage.set(() => Promise.resolve(RETURNED));
  await stage.send();
  const { brain, sessionId } = stage;
  return { brain, sessionId, file: `${DATA}/sessions/${sessionId}/journal/${segmentName(1)}`, records: await brain.journal(sessionId) };
}

const cut = (count: number) => (bytes: Uint8Array) => bytes.subarray(0, bytes.length - count);

describe('brain journal', () => {
  it('prints every record, one JSON line each, from the directory of a data directory, a session or a journal', async () => {
    const { brain, sessionId, records } = await recorded();
    const lines = records.map((record) => JSON.stringify(record));
    for (const path of [DATA, `${DATA}/sessions/${sessionId}`, `${DATA}/sessions/${sessionId}/journal`]) {
      expect(await tell(brain.disk, 'print', path)).toEqual({ lines, warnings: [], exitCode: 0 });
    }
  });

  it('changes nothing on the disk, torn files included', async () => {
    const { brain, file } = await recorded();
    brain.disk.damage(file, cut(3));
    const before = brain.disk.files(DATA).map((path) => [path, brain.disk.contents(path)]);
    for (const command of ['print', 'verify', 'stat'] as const) await tell(brain.disk, command, DATA);
    expect(brain.disk.files(DATA).map((path) => [path, brain.disk.contents(path)])).toEqual(before);
  });

  it('says of an incomplete final write where it begins, prints what is whole before it, and exits with 1', async () => {
    const { brain, file, records } = await recorded();
    brain.disk.damage(file, cut(3));
    const printed = await tell(brain.disk, 'print', DATA);
    expect(printed.exitCode).toBe(1);
    expect(printed.lines.length).toBeLessThan(records.length);
    expect(printed.lines).toEqual(records.slice(0, printed.lines.length).map((record) => JSON.stringify(record)));
    expect(printed.warnings.join()).toMatch(/torn at byte \d+: the last \d+ bytes are an incomplete write/);
    expect((await tell(brain.disk, 'verify', DATA)).lines.at(-1)).toBe('segments: 0 clean, 1 torn, 0 damaged');
  });

  it('says of a flipped bit in which file and at which byte the frame lies, and exits with 2', async () => {
    const { brain, file } = await recorded();
    brain.disk.damage(file, (bytes) => bytes.with(SEGMENT_HEADER_BYTES + 40, (bytes[SEGMENT_HEADER_BYTES + 40] ?? 0) ^ 1));
    const verified = await tell(brain.disk, 'verify', DATA);
    expect(verified.exitCode).toBe(2);
    expect(verified.lines[0]).toContain(`damaged at byte ${SEGMENT_HEADER_BYTES}: a payload differs from its checksum; no whole record`);
  });

  it('takes records that the charts refuse for damage, although every checksum holds', async () => {
    const { brain, file } = await recorded();
    let second = 0;
    brain.disk.damage(file, (bytes) => {
      const first = readFrameHeader(bytes, SEGMENT_HEADER_BYTES);
      second = SEGMENT_HEADER_BYTES + 28 + (first?.payloadBytes ?? 0);
      const sequence = (first?.recordCount ?? 0) + 1;
      const record = { sequence, recorded_at: 0, type: 'session_ready', state: 'suspended', data: {} };
      const frame = { firstSequence: sequence, recordCount: 1, payload: new TextEncoder().encode(JSON.stringify([record])) };
      return Buffer.concat([bytes.subarray(0, second), encodeFrame(frame)]);
    });
    const verified = await tell(brain.disk, 'verify', DATA);
    expect(verified.exitCode).toBe(2);
    expect(verified.lines[0]).toMatch(new RegExp(`damaged at byte ${second}: record \\d+ \\(session_ready\\) in state suspended`));
  });

  it('goes on with the other sessions behind a damaged one', async () => {
    const { brain, file } = await recorded();
    await brain.create();
    brain.disk.damage(file, (bytes) => bytes.with(0, 0x20));
    const verified = await tell(brain.disk, 'verify', DATA);
    expect(verified.lines.at(-1)).toBe('segments: 1 clean, 0 torn, 1 damaged');
  });

  it('counts each type, and all of them as many as there are', async () => {
    const { brain, records } = await recorded();
    const { lines } = await tell(brain.disk, 'stat', DATA);
    const counted = lines.slice(1, -2).map((line) => Number(/^ *(\d+)/.exec(line)?.[1]));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(records.length);
    expect(lines.at(-2)).toMatch(new RegExp(`^ +${records.length} +\\d+ {2}all records`));
  });

  it('refuses in one line a path that holds nothing, and to print two sessions at once', async () => {
    const { brain } = await recorded();
    await brain.create();
    await expect(tell(brain.disk, 'verify', '/nowhere')).rejects.toThrow(new LocateError('/nowhere does not exist'));
    await expect(tell(brain.disk, 'print', DATA)).rejects.toThrow('there are 2 sessions here: name the directory of one of them');
  });
});
