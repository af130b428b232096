/** Records as the payload of a frame, and back: one commit is the JSON array of its records. */
import { Buffer } from 'node:buffer';
import type { DecidedRecord } from '../machines/dry-run.ts';
import type { SessionRecord } from '../machines/records.ts';
import type { StoredFrame } from '../storage/journal.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** A decided record with its time, epoch milliseconds; its envelope in the order in which a person reads it. */
export function timed({ sequence, type, state, request, data }: DecidedRecord, recorded_at: number): SessionRecord {
  const record = request === undefined ? { sequence, recorded_at, type, state, data } : { sequence, recorded_at, type, state, request, data };
  return record as SessionRecord;
}

export function encodeRecord(record: SessionRecord): string {
  return JSON.stringify(record);
}

/** The payload of one commit, from its encoded records. */
export function payloadOf(encoded: readonly string[]): Uint8Array {
  return Buffer.from(`[${encoded.join(',')}]`, 'utf8');
}

/** How long the payload of these is. */
export function payloadBytesOf(encoded: readonly string[]): number {
  return encoded.reduce((bytes, text) => bytes + Buffer.byteLength(text) + 1, 1);
}

/** The records of a payload. It has its checksum behind it: what does not parse here was never written by us. */
export function decodeRecords(payload: Uint8Array): readonly SessionRecord[] {
  const value: unknown = JSON.parse(decoder.decode(payload));
  if (!Array.isArray(value)) throw new Error('a frame holds no list of records');
  return value as readonly SessionRecord[];
}

/** The records of a frame that come after a sequence. */
export function recordsAfter(frame: StoredFrame, after: number): readonly SessionRecord[] {
  return decodeRecords(frame.payload).filter((record) => record.sequence > after);
}
