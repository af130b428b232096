/** What a path on the command line holds: a data directory, one session's directory, also a copied one, or its journal. */
import path from 'node:path';
import { isErrorCode } from '../../storage/disk-failure.ts';
import type { SegmentsPlace } from '../../services/read-segments.ts';
import type { Disk } from '../../storage/disk.ts';
import { parseSegmentName } from '../../storage/segment.ts';
import { isSessionId } from '../../storage/session-id.ts';

/** Nothing there to look at: its message is for the person who gave the path. */
export class LocateError extends Error {
  override readonly name = 'LocateError';
}

export async function locateSessions(disk: Disk, given: string): Promise<readonly SegmentsPlace[]> {
  const at = path.resolve(given);
  const names = await namesIn(disk, at, given);
  if (names.some((name) => parseSegmentName(name) !== null)) return [sessionAt(path.dirname(at), at)];
  if (names.includes('journal')) return [sessionAt(at, path.join(at, 'journal'))];
  if (!names.includes('sessions')) {
    throw new LocateError(`${given} is no data directory, no session's directory and no journal: it holds no sessions, no journal and no segments`);
  }
  const ids = (await disk.list(path.join(at, 'sessions'))).filter(isSessionId).toSorted();
  return ids.map((id) => sessionAt(path.join(at, 'sessions', id), path.join(at, 'sessions', id, 'journal')));
}

function sessionAt(directory: string, journal: string): SegmentsPlace {
  const name = path.basename(directory);
  return { sessionId: isSessionId(name) ? name : null, name, journal };
}

async function namesIn(disk: Disk, at: string, given: string): Promise<readonly string[]> {
  try {
    return await disk.list(at);
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) throw new LocateError(`${given} does not exist`, { cause: error });
    if (isErrorCode(error, 'ENOTDIR')) throw new LocateError(`${given} is a file: name the directory that it is in`, { cause: error });
    if (isErrorCode(error, 'EACCES')) throw new LocateError(`${given} may not be read by this user`, { cause: error });
    throw error;
  }
}
