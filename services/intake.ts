/**
 * Where what comes from outside of Brain (from models, tools and agent loops) becomes data that may be recorded, shown
 * and told: plain data in well-formed text, and without the secrets that are in use. Nothing is recorded past it.
 *
 *   I1. Text is cleaned first and searched after: what is left out of it could be all that hides a secret.
 *   I2. Text is cut after it was searched: half a secret is not found any more.
 *   I3. A model's message is searched as it will be read: its texts together, and a tool call's arguments as what they
 *       parse to.
 *   I4. What is kept was taken in before. It is searched again only once for each set of secrets in use, and nothing else
 *       of it is looked at: what a conversation costs is what is new in it.
 */
import type { Block, JsonValue, Message } from '../machines/messages.ts';
import { MESSAGE_DEPTH_MAX, PLAIN_DATA_DEPTH_MAX, plainData, plainText, type PlainData } from '../machines/plain-data.ts';
import { sameValue } from '../machines/value-equality.ts';
import { LiveDeltas } from './live-deltas.ts';
import type { ModelDelta } from './models/model-provider.ts';
import type { SecretSearch } from './secrets.ts';

export class Intake {
  readonly #secrets: SecretSearch;

  constructor(secrets: SecretSearch) {
    this.#secrets = secrets;
  }

  /** A value as plain data, or why it is none. */
  data(value: unknown, depthMax = PLAIN_DATA_DEPTH_MAX): PlainData {
    const plain = plainData(value, depthMax);
    return plain.ok ? { ok: true, value: this.#cleaned(plain.value) } : plain;
  }

  /** Whether messages that are kept, and so were taken in before, can go as they are: other secrets may be in use now. */
  areClean(kept: readonly Message[]): boolean {
    return !this.#secrets.areInFrozen(kept as unknown as readonly (JsonValue & object)[]);
  }

  text(text: string, charactersMax = Infinity): string {
    const clean = this.#secrets.without(plainText(text));
    return clean.length <= charactersMax ? clean : plainText(clean.slice(0, charactersMax));
  }

  /** A model's answer, or why it cannot be recorded. */
  message(given: Message): { readonly ok: true; readonly message: Message } | { readonly ok: false; readonly reason: string } {
    const plain = plainData(given, MESSAGE_DEPTH_MAX);
    if (!plain.ok) return plain;
    const message = plain.value as unknown as Message;
    return { ok: true, message: this.#secrets.isOn ? this.#messageWithout(message) : message };
  }

  /** The pieces of an answer that is still coming, shown as far as they can be. */
  deltas(show: (delta: ModelDelta) => void): LiveDeltas {
    return new LiveDeltas(this.#secrets, show);
  }

  /** The value itself, but for where a secret stands in it. */
  #cleaned(value: JsonValue): JsonValue {
    return this.#secrets.isIn(value) ? this.#without(value) : value;
  }

  #without(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.#secrets.without(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: JsonValue) => this.#without(item));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.#secrets.without(key), this.#without(item)]));
  }

  #messageWithout(message: Message): Message {
    const { content } = this.#cleaned(message as unknown as JsonValue) as unknown as Message;
    const blocks = content.map((block, index) => withArgumentsOf(block, message.content[index]));
    const spoken = this.#acrossBlocks(this.#acrossBlocks(blocks, 'text'), 'reasoning');
    return { role: message.role, content: spoken };
  }

  /** Blocks of one kind are read as one text. */
  #acrossBlocks(blocks: readonly Block[], type: 'text' | 'reasoning'): readonly Block[] {
    const pieces = blocks.map((block) => (block.type === type ? block.text : ''));
    if (!this.#secrets.isIn(pieces.join(''))) return blocks;
    const clean = this.#secrets.withoutAcross(pieces);
    return blocks.map((block, index) => (block.type === type ? { ...block, text: clean[index] ?? '' } : block));
  }
}

/** The arguments' text may spell a secret in escapes, which the parse of it shows: then it is written anew. */
function withArgumentsOf(clean: Block, given: Block | undefined): Block {
  if (clean.type !== 'tool_use' || given?.type !== 'tool_use') return clean;
  if (clean.input === undefined || sameValue(clean.input, given.input)) return clean;
  return { ...clean, input_text: JSON.stringify(clean.input) };
}
