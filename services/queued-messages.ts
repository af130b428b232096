/** Messages that wait for their turn: sent, sent again under their key, listed and withdrawn. */
import { lifecycleEventsOf, type LifecycleEvent } from '../machines/projections/lifecycle-events.ts';
import type { Sequence, SessionRecord } from '../machines/records.ts';
import type { Journal } from '../storage/journal.ts';
import { ServiceError } from './errors.ts';
import { recordAt, recordsOf } from './history.ts';
import { accepted } from './session-refusals.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { QueuedMessage, WaitingMessage } from './session-service.ts';

type UserMessage = LifecycleEvent<'user.message'>;

/** Records a message, and answers with it; with the one that is there where its key is known. */
export async function queueMessage(registry: SessionRegistry, sessionId: string, message: QueuedMessage): Promise<UserMessage> {
  const { text, key } = message;
  const named = key === undefined ? {} : { key };
  const receipt = await registry.command(sessionId, { kind: 'send', input: text, mode: 'queue', ...named });
  if (receipt.kind === 'known_message') return messageAgain(registry, sessionId, { ...message, sequence: receipt.sequence });
  const queued = accepted(receipt).find(({ type }) => type === 'message_queued');
  return userMessageOf(queued);
}

/** The message that is there under a message's key; null where it has none, or it is free. */
export async function messageKnown(registry: SessionRegistry, sessionId: string, message: QueuedMessage): Promise<UserMessage | null> {
  const { key } = message;
  if (key === undefined) return null;
  const sequence = await registry.readState(sessionId, (state) => state.messageKeys.find(key));
  return sequence === null ? null : messageAgain(registry, sessionId, { ...message, sequence });
}

/** The messages that wait, first come first. */
export async function waitingMessages(registry: SessionRegistry, sessionId: string): Promise<readonly WaitingMessage[]> {
  const queue = await registry.readState(sessionId, (state) => state.context.queue);
  return registry.read(sessionId, (journal) =>
    Promise.all(
      queue.map(async (message) => {
        const { sequence, recorded_at, data } = userMessageOf(await recordAt(journal, message));
        return { message_sequence: sequence, text: data.text, recorded_at };
      }),
    ),
  );
}

export async function withdrawMessage(registry: SessionRegistry, sessionId: string, message: Sequence): Promise<void> {
  const receipt = await registry.command(sessionId, { kind: 'withdraw', waiting: message });
  if (receipt.kind === 'refused' && receipt.code === 'not_waiting') {
    throw await registry.read(sessionId, (journal) => notWaiting(journal, message));
  }
  accepted(receipt);
}

/** What is there under a key, for whoever sends it again. Throws `conflict` where it is sent with another text. */
async function messageAgain(
  registry: SessionRegistry,
  sessionId: string,
  { sequence, text }: QueuedMessage & { readonly sequence: Sequence },
): Promise<UserMessage> {
  const event = userMessageOf(await registry.read(sessionId, (journal) => recordAt(journal, sequence)));
  if (event.data.text === text) return event;
  throw new ServiceError('conflict', 'a message with this key and another text was sent before; take a new key for a new message', {
    details: { field: '/key' },
  });
}

/** Why a message cannot be withdrawn: it left the queue for its turn, or there is none in the queue to speak of. */
async function notWaiting(journal: Journal, message: Sequence): Promise<ServiceError> {
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

/** The event that a message's record shows. */
function userMessageOf(record: SessionRecord | null | undefined): UserMessage {
  const [event] = record?.type === 'message_queued' ? lifecycleEventsOf(record) : [];
  if (event?.type !== 'user.message') throw new Error('an accepted message is recorded, and shows itself');
  return event;
}
