/** Messages that were queued, read back from the journal: as they were saved, and as they wait. */
import { lifecycleEventsOf, type LifecycleEvent } from '../machines/projections/lifecycle-events.ts';
import type { Sequence, SessionRecord } from '../machines/records.ts';
import type { Journal } from '../storage/journal.ts';
import { ServiceError } from './errors.ts';
import { recordAt, recordsOf } from './history.ts';
import type { WaitingMessage } from './session-service.ts';

/** The event that a message was answered with when it was saved. */
export function userMessageOf(record: SessionRecord<'message_queued'>): LifecycleEvent<'user.message'> {
  const [event] = lifecycleEventsOf(record);
  if (event?.type !== 'user.message') throw new Error('a queued message shows itself');
  return event;
}

/** The message that a key stands for, for whoever sends it again. Throws `conflict` where it is sent with another text. */
export async function messageAgain(journal: Journal, message: Sequence, text: string): Promise<LifecycleEvent<'user.message'>> {
  const event = userMessageOf(await messageAt(journal, message));
  if (event.data.text === text) return event;
  throw new ServiceError('conflict', 'a message with this key and another text was sent before; take a new key for a new message', {
    details: { field: '/key' },
  });
}

export async function waitingMessage(journal: Journal, message: Sequence): Promise<WaitingMessage> {
  const { sequence, recorded_at, data } = userMessageOf(await messageAt(journal, message));
  return { message_sequence: sequence, text: data.text, recorded_at };
}

/** Why a message cannot be withdrawn: it left the queue for its turn, or there is none in the queue to speak of. */
export async function notWaiting(journal: Journal, message: Sequence): Promise<ServiceError> {
  const isRecord = message >= 1 && message <= journal.lastSequence;
  const isMessage = isRecord && (await recordAt(journal, message))?.type === 'message_queued';
  if (isMessage && (await hasStarted(journal, message))) {
    return new ServiceError('already_started', 'the turn of this message has started; interrupt it to stop it');
  }
  return new ServiceError('not_found', 'no such message waits');
}

/** Whether a message that left the queue left it for its turn. */
async function hasStarted(journal: Journal, message: Sequence): Promise<boolean> {
  for await (const record of recordsOf(journal, message)) {
    const isEnd = record.type === 'turn_started' || record.type === 'message_withdrawn' || record.type === 'message_failed';
    if (isEnd && record.data.message_sequence === message) return record.type === 'turn_started';
  }
  return false;
}

async function messageAt(journal: Journal, message: Sequence): Promise<SessionRecord<'message_queued'>> {
  const record = await recordAt(journal, message);
  if (record?.type !== 'message_queued') throw new Error(`record ${message} is no message`);
  return record;
}
