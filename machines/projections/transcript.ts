/**
 * The transcript: the deltas of the journal, applied in order. Brain edits nothing in it; a loop's deltas are all that
 * changes it, and a resume, which goes back to the checkpoint.
 *
 *   P1. A delta's cost is what it adds or replaces, never the conversation's length.
 *   P2. A reference names a record of the running turn or the one before it, after the checkpoint, or a message that still
 *       waits; so what has to be kept to resolve references is bounded by two turns and the queue.
 */
import { userMessage, type Message, type ToolResultBlock, contentOf } from '../messages.ts';
import type { MessageOrReference, MessagesDelta, Sequence, SessionRecord } from '../records.ts';
import { deepFreeze, sameValue } from '../value-equality.ts';

/** What a record holds that a transcript may refer to. */
type Held = { readonly message: Message } | { readonly result: ToolResultBlock };

export interface TranscriptSnapshot {
  readonly messages: readonly Message[];
  readonly checkpoint: { readonly kept: number; readonly tail: readonly Message[] };
  readonly held: readonly (readonly [Sequence, Held])[];
  readonly calls: readonly (readonly [Sequence, string])[];
  readonly turns: readonly (readonly Sequence[])[];
}

export class Transcript {
  #messages: Message[] = [];
  /** The transcript at the checkpoint is the first `#kept` messages and this tail. */
  #kept = 0;
  #tail: readonly Message[] = [];
  #held = new Map<Sequence, Held>();
  /** The provider's id of each tool call that is open. */
  #calls = new Map<Sequence, string>();
  /** The records that the running turn and the one before it hold. */
  #turn: Sequence[] = [];
  #turnBefore: Sequence[] = [];

  static from(snapshot: TranscriptSnapshot): Transcript {
    const transcript = new Transcript();
    for (const message of snapshot.messages) transcript.#messages.push(deepFreeze(message));
    transcript.#kept = snapshot.checkpoint.kept;
    transcript.#tail = deepFreeze(snapshot.checkpoint.tail);
    for (const [sequence, held] of snapshot.held) transcript.#held.set(sequence, deepFreeze(held));
    for (const [sequence, id] of snapshot.calls) transcript.#calls.set(sequence, id);
    transcript.#turn = [...(snapshot.turns[0] ?? [])];
    transcript.#turnBefore = [...(snapshot.turns[1] ?? [])];
    return transcript;
  }

  /** One that goes its own way from here on. The messages are the same ones. */
  copy(): Transcript {
    const copy = new Transcript();
    copy.#messages = this.#messages.slice();
    copy.#kept = this.#kept;
    copy.#tail = this.#tail;
    copy.#held = new Map(this.#held);
    copy.#calls = new Map(this.#calls);
    copy.#turn = [...this.#turn];
    copy.#turnBefore = [...this.#turnBefore];
    return copy;
  }

  snapshot(): TranscriptSnapshot {
    return {
      messages: [...this.#messages],
      checkpoint: { kept: this.#kept, tail: this.#tail },
      held: [...this.#held],
      calls: [...this.#calls],
      turns: [[...this.#turn], [...this.#turnBefore]],
    };
  }

  get length(): number {
    return this.#messages.length;
  }

  /** The messages as they are now. They are frozen: what is shown to a loop is what was recorded. */
  messages(): readonly Message[] {
    return this.#messages.slice();
  }

  /** The message that a record holds. Throws where it holds none that can still be referred to. */
  messageOf(sequence: Sequence): Message {
    return this.#resolve({ sequences: [sequence] });
  }

  apply(record: SessionRecord): void {
    switch (record.type) {
      case 'message_queued':
        this.#held.set(record.sequence, { message: deepFreeze(userMessage(record.data.input)) });
        return;
      case 'message_withdrawn':
      case 'message_failed':
        this.#held.delete(record.data.message_sequence);
        return;
      case 'turn_started':
        this.#drop(this.#turnBefore);
        this.#turnBefore = this.#turn;
        this.#turn = [record.data.message_sequence];
        return;
      case 'model_call_ended':
        this.#hold(record.sequence, { message: record.data.message });
        return;
      case 'tool_call_started':
        this.#calls.set(record.sequence, record.data.tool_use_id);
        return;
      case 'tool_call_ended': {
        const { started_sequence, output, is_error, outcome } = record.data;
        const tool_use_id = this.#calls.get(started_sequence) ?? '';
        this.#calls.delete(started_sequence);
        const content = contentOf(output);
        this.#hold(record.sequence, { result: { type: 'tool_result', tool_use_id, content, is_error, outcome } });
        return;
      }
      case 'transcript_delta':
        this.#change(record.data.from, record.data.messages.map((message) => this.#resolve(message)));
        return;
      case 'session_ready':
        this.#setCheckpoint();
        return;
      case 'turn_ended':
        this.#forgetTurns();
        this.#setCheckpoint();
        return;
      case 'session_resumed':
        this.#forgetTurns();
        this.#messages.length = this.#kept;
        this.#messages.push(...this.#tail);
        this.#setCheckpoint();
        return;
      default:
        return;
    }
  }

  /**
   * What has to be recorded for the transcript to become `next`, by value: null where nothing differs. Messages that
   * stand in records already are referred to.
   */
  deltaTo(next: readonly Message[]): (MessagesDelta & { readonly replaces?: number }) | null {
    const from = this.#commonLength(next);
    const replaces = this.#messages.length - from;
    if (replaces === 0 && from === next.length) return null;
    const messages = next.slice(from).map((message) => this.#referTo(message));
    return replaces === 0 ? { from, messages } : { from, messages, replaces };
  }

  /** The messages of a request that is this transcript changed by a delta. */
  with(delta: MessagesDelta | null): readonly Message[] {
    if (delta === null) return this.messages();
    return [...this.#messages.slice(0, delta.from), ...delta.messages.map((message) => this.#resolve(message))];
  }

  #commonLength(next: readonly Message[]): number {
    const most = Math.min(next.length, this.#messages.length);
    for (let index = 0; index < most; index += 1) {
      const message = this.#messages[index];
      // What a loop was given and hands back is the same object: nearly all of a long conversation.
      if (message !== next[index] && !sameValue(message, next[index])) return index;
    }
    return most;
  }

  #change(from: number, messages: readonly Message[]): void {
    if (from < this.#kept) {
      this.#tail = [...this.#messages.slice(from, this.#kept), ...this.#tail];
      this.#kept = from;
    }
    this.#messages.length = from;
    for (const message of messages) this.#messages.push(deepFreeze(message));
  }

  #setCheckpoint(): void {
    this.#kept = this.#messages.length;
    this.#tail = [];
  }

  #hold(sequence: Sequence, held: Held): void {
    this.#held.set(sequence, deepFreeze(held));
    this.#turn.push(sequence);
  }

  #drop(sequences: readonly Sequence[]): void {
    for (const sequence of sequences) this.#held.delete(sequence);
  }

  #forgetTurns(): void {
    this.#drop(this.#turn);
    this.#drop(this.#turnBefore);
    this.#turn = [];
    this.#turnBefore = [];
  }

  #resolve(message: MessageOrReference): Message {
    if (!('sequences' in message)) return message;
    const results: ToolResultBlock[] = [];
    for (const sequence of message.sequences) {
      const held = this.#held.get(sequence);
      if (held === undefined) throw new Error(`record ${sequence} holds no message that can be referred to`);
      if ('message' in held) return held.message;
      results.push(held.result);
    }
    return { role: 'user', content: results };
  }

  #referTo(message: Message): MessageOrReference {
    // The youngest first: a repeated text is the answer that has just come, and either reads back the same.
    const held = [...this.#held].reverse();
    const whole = held.find(([, one]) => 'message' in one && sameValue(one.message, message));
    if (whole !== undefined) return { sequences: [whole[0]] };
    const sequences = message.content.map((block) => resultHolding(held, block));
    const known = sequences.filter((sequence) => sequence !== null);
    return message.role === 'user' && known.length > 0 && known.length === sequences.length
      ? { sequences: known }
      : message;
  }
}

function resultHolding(held: readonly (readonly [Sequence, Held])[], block: Message['content'][number]): Sequence | null {
  if (block.type !== 'tool_result') return null;
  const found = held.find(([, one]) => 'result' in one && sameValue(one.result, block));
  return found?.[0] ?? null;
}
