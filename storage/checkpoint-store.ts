/**
 * A session's checkpoint file: a payload that can be done without, and is either whole or not there. A header in front of
 * it holds the mark `BRAINCP1`, the payload's length and its CRC-32.
 */
import type { DataDirectory } from './data-directory.ts';
import { isErrorCode } from './disk-failure.ts';
import { checksumOf } from './frame.ts';
import { readFile, replaceFile } from './whole-file.ts';

const CHECKPOINT_MARK = 'BRAINCP1';
const CHECKPOINT_HEADER_BYTES = 16;
const CHECKPOINT_FILE = 'checkpoint';

export async function readCheckpoint(directory: DataDirectory, sessionId: string): Promise<Uint8Array | null> {
  const file = `sessions/${sessionId}/${CHECKPOINT_FILE}`;
  let payload: Uint8Array | null;
  try {
    payload = decode(await readFile(directory.disk, directory.at(file)));
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return null;
    directory.log.warn('checkpoint_unreadable', { session_id: sessionId, file, error });
    return null;
  }
  if (payload === null) directory.log.warn('checkpoint_damaged', { session_id: sessionId, file });
  return payload;
}

export async function writeCheckpoint(directory: DataDirectory, sessionId: string, payload: Uint8Array): Promise<boolean> {
  const session = `sessions/${sessionId}`;
  try {
    await replaceFile(directory.disk, { directory: directory.at(session), name: CHECKPOINT_FILE, bytes: encode(payload) });
    return true;
  } catch (error) {
    directory.log.warn('checkpoint_not_written', { session_id: sessionId, file: `${session}/${CHECKPOINT_FILE}`, error });
    return false;
  }
}

function encode(payload: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(CHECKPOINT_HEADER_BYTES + payload.length);
  bytes.write(CHECKPOINT_MARK, 0, 'latin1');
  bytes.writeUInt32BE(payload.length, 8);
  bytes.writeUInt32BE(checksumOf(payload), 12);
  bytes.set(payload, CHECKPOINT_HEADER_BYTES);
  return bytes;
}

function decode(bytes: Uint8Array): Uint8Array | null {
  if (bytes.length < CHECKPOINT_HEADER_BYTES) return null;
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, CHECKPOINT_HEADER_BYTES);
  const payload = bytes.subarray(CHECKPOINT_HEADER_BYTES);
  const holds =
    header.toString('latin1', 0, 8) === CHECKPOINT_MARK &&
    header.readUInt32BE(8) === payload.length &&
    header.readUInt32BE(12) === checksumOf(payload);
  return holds ? payload : null;
}
