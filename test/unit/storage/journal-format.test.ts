/** Holds `docs/journal-format.md` to the code. */
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  checksumOf,
  encodeFrame,
  encodeSegmentHeader,
  FRAME_HEADER_BYTES,
  FRAME_MARKER,
  FRAME_PAYLOAD_BYTES_MAX,
  SECTOR_BYTES,
  SEGMENT_FORMAT_VERSION,
  SEGMENT_HEADER_BYTES,
  SEGMENT_MAGIC,
} from '../../../storage/frame.ts';
import { SEGMENT_BYTES_MAX, segmentName } from '../../../storage/segment.ts';
import { frameOf, ID, textOf } from '../../support/frames.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import { ROOT, startStore } from '../../support/stores.ts';

describe('docs/journal-format.md', () => {
  let text = '';

  beforeAll(async () => {
    text = await readFile(new URL('../../../docs/journal-format.md', import.meta.url), 'utf8');
  });

  /** The rows of the table with this first heading: offset, length, words. */
  function fields(heading: string): readonly (readonly [offset: number, bytes: number, words: string])[] {
    const table = text.slice(text.indexOf(`| ${heading} | bytes | what |`)).split('\n\n', 1)[0] ?? '';
    return table
      .split('\n')
      .slice(2)
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .map(([, offset = '', bytes = '', words = '']) => [Number(offset), Number(bytes), words]);
  }

  function fieldOf(heading: string, words: string): (bytes: Uint8Array) => Buffer {
    const [offset = NaN, bytes = NaN] = fields(heading).find(([, , says]) => says.startsWith(words)) ?? [];
    return (header) => Buffer.from(header.subarray(offset, offset + bytes));
  }

  it('lays fields side by side, up to the length of the header', () => {
    for (const [heading, length] of [['segment header', SEGMENT_HEADER_BYTES], ['frame', FRAME_HEADER_BYTES]] as const) {
      const rows = fields(heading);
      let end = 0;
      for (const [offset, bytes] of rows) {
        expect(offset).toBe(end);
        end = offset + bytes;
      }
      expect(end).toBe(length);
      expect(rows.length).toBeGreaterThan(5);
    }
  });

  it('says where in a segment header each fact is', () => {
    const header = encodeSegmentHeader(ID, 258);

    expect(fieldOf('segment header', `the text \`${SEGMENT_MAGIC}\``)(header).toString()).toBe(SEGMENT_MAGIC);
    expect(fieldOf('segment header', `format version, ${SEGMENT_FORMAT_VERSION}`)(header).readUInt32BE()).toBe(1);
    expect(fieldOf('segment header', 'session id')(header).toString('hex')).toBe(ID);
    expect(fieldOf('segment header', 'first sequence')(header).readBigUInt64BE()).toBe(258n);
    expect(fieldOf('segment header', 'checksum of the bytes 0 to 35')(header).readUInt32BE()).toBe(
      checksumOf(header.subarray(0, 36)),
    );
  });

  it('says where in a frame each fact is', () => {
    const frame = encodeFrame(frameOf(259, 3, '{"a":1}'));
    const marker = FRAME_MARKER.toString(16);

    expect(fieldOf('frame', `marker, \`${marker}\``)(frame).toString('hex')).toBe(marker);
    expect(fieldOf('frame', `length of the payload, ${FRAME_PAYLOAD_BYTES_MAX} at most`)(frame).readUInt32BE()).toBe(7);
    expect(fieldOf('frame', 'sequence of the first')(frame).readBigUInt64BE()).toBe(259n);
    expect(fieldOf('frame', 'how many records')(frame).readUInt32BE()).toBe(3);
    expect(fieldOf('frame', 'checksum of the payload')(frame).readUInt32BE()).toBe(checksumOf(Buffer.from('{"a":1}')));
    expect(fieldOf('frame', 'checksum of the bytes 0 to 23')(frame).readUInt32BE()).toBe(checksumOf(frame.subarray(0, 24)));
  });

  it('says where in a checkpoint each fact is', async () => {
    const disk = new SimulatedDisk();
    const { store } = await startStore(disk);
    await (await store.create(ID)).append(frameOf(1, 1, 'a'));
    await store.writeCheckpoint(ID, Buffer.from('payload'));
    const file = disk.contents(`${ROOT}/sessions/${ID}/checkpoint`) ?? new Uint8Array();

    expect(fieldOf('checkpoint', 'the text `BRAINCP1`')(file).toString()).toBe('BRAINCP1');
    expect(fieldOf('checkpoint', 'length of the payload')(file).readUInt32BE()).toBe(7);
    expect(fieldOf('checkpoint', 'checksum of the payload')(file).readUInt32BE()).toBe(checksumOf(Buffer.from('payload')));
    expect(textOf(file.subarray(fields('checkpoint').at(-1)?.[0]))).toBe('payload');
  });

  it('names the bounds that the code has', () => {
    expect(text).toContain(`longer than ${SEGMENT_BYTES_MAX} bytes`);
    expect(text).toContain(`sectors of ${SECTOR_BYTES} bytes`);
    expect(text).toContain(`${/^\d+/.exec(segmentName(1))?.[0].length ?? 0} digits`);
  });
});
