/**
 * What a repeat of a keyed request is answered with: a reading of the journal from the record that the request caused.
 *
 *   R1. Another body under the same key is refused: `idempotency_mismatch`.
 *   R2. A turn or an end that is under way is `idempotency_in_progress`; one that was closed by a restart has no answer
 *       that anybody could stand for, and is `idempotency_ambiguous`. Neither runs again.
 */
import type { FirstRequest } from '../machines/projections/keyed-requests.ts';
import type { JsonObject } from '../machines/messages.ts';
import type { Sequence, SessionRecord } from '../machines/records.ts';
import type { Journal } from '../storage/journal.ts';
import { ServiceError } from './errors.ts';
import type { KeyedCall, KeyedRoute, RouteAnswers } from './keyed-call.ts';
import { recordsOf } from './history.ts';
import { viewAt } from './past-views.ts';
import type { TurnAnswer, TurnReceipt } from './session-service.ts';
import { TurnAnswerFold } from './turn-answer.ts';

type SessionRoute = Exclude<KeyedRoute, 'create' | 'delete'>;

/** The first answer again. Throws where there is none to give. */
export async function answerAgain(
  journal: Journal,
  call: KeyedCall,
  first: FirstRequest,
  isResident: boolean,
): Promise<RouteAnswers[SessionRoute]> {
  refuseOtherBody(call, first.body);
  switch (call.route) {
    case 'send':
      return turnAgain(journal, first.sequence);
    case 'submit':
      return receiptAgain(journal, first.sequence);
    case 'end':
      return viewAt(journal, isRecord(await endOf(journal, first.sequence)), isResident);
    case 'resume':
    case 'change_metadata':
      return viewAt(journal, isRecord(first.sequence), isResident);
    case 'cancel':
    case 'close':
      return null;
    case 'create':
    case 'delete':
      throw new Error(`a journal holds no key of ${call.route}`);
  }
}

export function refuseOtherBody(call: KeyedCall, body: string): void {
  if (call.request.body === body) return;
  throw new ServiceError('idempotency_mismatch', 'this idempotency key was used with another body; take a new key for a new request');
}

export function inProgress(): ServiceError {
  return new ServiceError('idempotency_in_progress', 'the request with this idempotency key is still under way; ask again when it is over');
}

export function ambiguous(details: JsonObject): ServiceError {
  return new ServiceError(
    'idempotency_ambiguous',
    'the server stopped before the request with this idempotency key was answered, and it is not carried out again; look at the session before taking a new key',
    { details },
  );
}

async function turnAgain(journal: Journal, message: Sequence): Promise<TurnAnswer> {
  const fold = new TurnAnswerFold(journal.sessionId);
  for await (const record of recordsOf(journal, message)) {
    const answer = fold.apply(record);
    if (answer === null) continue;
    if (isClosedByRestart(record)) throw ambiguous({ session_id: journal.sessionId, sequence: answer.sequence });
    return answer;
  }
  throw inProgress();
}

async function receiptAgain(journal: Journal, message: Sequence): Promise<TurnReceipt> {
  for await (const record of recordsOf(journal, message)) {
    if (record.type === 'turn_started') return { session_id: journal.sessionId, sequence: record.sequence };
  }
  throw new Error('a submitted message starts its turn in the same commit');
}

/** The record with which an end was complete. */
async function endOf(journal: Journal, asked: Sequence): Promise<Sequence> {
  for await (const record of recordsOf(journal, asked - 1)) {
    if (isClosedByRestart(record)) throw ambiguous({ session_id: journal.sessionId, sequence: asked });
    // A later end of a session that was ending already left only that it was asked; it is over when the session is.
    if (record.type === 'session_ended' || (record.type === 'request_answered' && record.state === 'ended')) return record.sequence;
  }
  throw inProgress();
}

function isRecord(sequence: Sequence): (record: SessionRecord) => boolean {
  return (record) => record.sequence === sequence;
}

function isClosedByRestart(record: SessionRecord): boolean {
  switch (record.type) {
    case 'turn_failed':
    case 'session_failed':
      return record.data.code === 'interrupted_by_restart';
    case 'environment_detach_failed':
      // What an environment itself leaves open has a code that says how.
      return record.data.outcome === 'unknown' && record.data.code === 'unknown';
    default:
      return false;
  }
}
