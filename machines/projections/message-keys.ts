/**
 * The keys that messages were sent with: which message each stands for. A key holds for the session's life, whatever
 * became of its message, and it is known only where the message was recorded.
 */
import type { Sequence, SessionRecord } from '../records.ts';

export type MessageKeysSnapshot = readonly (readonly [key: string, message: Sequence])[];

export class MessageKeys {
  readonly #messages = new Map<string, Sequence>();

  static from(snapshot: MessageKeysSnapshot): MessageKeys {
    const keys = new MessageKeys();
    for (const [key, message] of snapshot) keys.#messages.set(key, message);
    return keys;
  }

  snapshot(): MessageKeysSnapshot {
    return [...this.#messages];
  }

  /** The `message_queued` of a key; null where the key is free. */
  find(key: string): Sequence | null {
    return this.#messages.get(key) ?? null;
  }

  apply(record: SessionRecord): void {
    if (record.type !== 'message_queued' || record.data.key === undefined) return;
    this.#messages.set(record.data.key, record.sequence);
  }
}
