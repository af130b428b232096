/** What a client hears where the session, its journal or the disk says no. */
import { METADATA_PAIRS_MAX, type RefusalCode } from '../machines/decide.ts';
import { ReplayError } from '../machines/replay.ts';
import { StorageError, type StorageErrorCode } from '../storage/journal.ts';
import { ServiceError, type ServiceErrorCode } from './errors.ts';
import type { Receipt } from './session-actor.ts';

type TurnRefusal = Extract<RefusalCode, 'turn_cancelled' | 'turn_over' | 'effects_full' | 'operation_over'>;
type SessionRefusal = Exclude<RefusalCode, TurnRefusal | 'not_waiting'> | 'too_large';

const MESSAGE_OF_REFUSAL: Readonly<Record<SessionRefusal, string>> = {
  session_busy: 'a turn is running or starting, the session is still being created, or its environments are being torn down; try again when that is over',
  session_ending: 'the session is ending and takes no more messages',
  session_ended: 'the session is over: it takes no messages and no changes',
  must_resume: 'the last turn was stopped; resume the session before sending to it, with a token of the scope manage',
  not_resumable: 'only a session that is interrupted, or failed in a turn, can be resumed; one whose creation failed never runs',
  must_end: 'only an ended or failed session can be deleted; end it first',
  queue_full: 'as many messages wait as may; send again when a turn is over',
  metadata_full: `metadata has ${METADATA_PAIRS_MAX} names at most, those that it has already included`,
  too_large: 'this is too large to be recorded',
};

/** The records of a receipt: none where there was nothing to do. Throws what the session refused. */
export function accepted(receipt: Receipt): Extract<Receipt, { kind: 'committed' }>['records'] {
  if (receipt.kind === 'committed') return receipt.records;
  if (receipt.kind === 'nothing') return [];
  if (receipt.kind === 'repeated' || receipt.kind === 'known_message') throw new Error('a repeat is answered before it gets here');
  const { code } = receipt;
  if (code === 'turn_cancelled' || code === 'turn_over' || code === 'effects_full' || code === 'operation_over' || code === 'not_waiting') {
    throw new Error(`this command is not answered with ${code}`);
  }
  if (code === 'must_end' && receipt.state === 'ending') throw new ServiceError(code, 'the session is still ending: delete it when that is over');
  if (code === 'metadata_full') throw new ServiceError('invalid_request', MESSAGE_OF_REFUSAL[code], { details: { field: '/metadata' } });
  throw new ServiceError(code, MESSAGE_OF_REFUSAL[code]);
}

const CODE_OF_STORAGE: Readonly<Record<StorageErrorCode, ServiceErrorCode>> = {
  session_not_found: 'not_found',
  journal_corrupt: 'journal_corrupt',
  journal_unavailable: 'journal_unavailable',
  disk_full: 'disk_full',
  data_directory_locked: 'internal',
  data_directory_unusable: 'internal',
};

const MESSAGE_OF_STORAGE: Readonly<Record<StorageErrorCode, string>> = {
  session_not_found: 'there is no such session',
  journal_corrupt: "the session's journal is damaged and refused; nothing in it was changed",
  journal_unavailable: 'the journal could not be written or read; whether this request was recorded is unknown, so look at the session first',
  disk_full: 'the disk is full; whether this request was recorded is unknown, so look at the session first',
  data_directory_locked: 'the data directory is not to be had',
  data_directory_unusable: 'the data directory is not to be had',
};

const CLAIMS_DAMAGED =
  'the file of idempotency keys is damaged and refused, so that keyed creates and deletes are too; those without a key go on';

/** Any error as one that the application API may answer with. */
export function serviceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof ReplayError) {
    return new ServiceError('journal_corrupt', MESSAGE_OF_STORAGE.journal_corrupt, { details: { sequence: error.sequence }, cause: error });
  }
  if (error instanceof StorageError) {
    const { code, file, offset } = error;
    const details = { ...(file === undefined ? {} : { file }), ...(offset === undefined ? {} : { offset }) };
    const evidence = Object.keys(details).length === 0 ? {} : { details };
    const isOfClaims = code === 'journal_corrupt' && file?.startsWith('claims/') === true;
    return new ServiceError(CODE_OF_STORAGE[code], isOfClaims ? CLAIMS_DAMAGED : MESSAGE_OF_STORAGE[code], { ...evidence, cause: error });
  }
  return new ServiceError('internal', 'something went wrong inside the server; its log has the details', { cause: error });
}

/**
 * The answer of `work`. Rejects with a `ServiceError` and nothing else. `diskFailed`: what is said of a disk that failed, where
 * the work is on no session.
 */
export async function answering<T>(work: () => Promise<T>, diskFailed?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const answer = serviceError(error);
    const isOfDisk = answer.code === 'journal_unavailable' || answer.code === 'disk_full';
    if (diskFailed === undefined || !isOfDisk) throw answer;
    throw new ServiceError(answer.code, diskFailed, { cause: error });
  }
}

/** Of a session that is not there, and of another tenant's, which must read the same. */
export function notFound(): ServiceError {
  return new ServiceError('not_found', MESSAGE_OF_STORAGE.session_not_found);
}
