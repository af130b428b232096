import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTelemetryFile } from '../../../services/telemetry-file.ts';

const LINE = { session_id: 'ab'.repeat(16), message_sequence: 3, recorded_at: 1_767_268_800_000, record: { step: 'two\nlines' } };
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the telemetry file', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'brain-telemetry-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  it('S-166: keeps a line for each record, across restarts', async () => {
    const path = join(directory, 'telemetry.jsonl');
    for (const step of ['first', 'second']) {
      const file = await openTelemetryFile(path, log);
      file.write({ ...LINE, record: { step } });
      file.write(LINE);
      await file.close();
    }

    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n').map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual([{ ...LINE, record: { step: 'first' } }, LINE, { ...LINE, record: { step: 'second' } }, LINE]);
  });

  it('that cannot be opened is said at once', async () => {
    await expect(openTelemetryFile(join(directory, 'missing', 'file'), log)).rejects.toThrow('ENOENT');
  });
});
