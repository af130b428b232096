/** A session's key-value state: the journal's puts and deletions, and a resume, which goes back to the checkpoint. */
import type { JsonValue } from '../messages.ts';
import type { SessionRecord } from '../records.ts';
import { deepFreeze } from '../value-equality.ts';

export interface KeyValuesSnapshot {
  readonly values: readonly (readonly [string, JsonValue])[];
  /** What each key that changed since the checkpoint was then; null: it was missing. */
  readonly before: readonly (readonly [string, { readonly value: JsonValue } | null])[];
}

export class KeyValues {
  #values = new Map<string, JsonValue>();
  #before = new Map<string, { readonly value: JsonValue } | null>();

  static from(snapshot: KeyValuesSnapshot): KeyValues {
    const keyValues = new KeyValues();
    for (const [key, value] of snapshot.values) keyValues.#values.set(key, deepFreeze(value));
    for (const [key, before] of snapshot.before) keyValues.#before.set(key, deepFreeze(before));
    return keyValues;
  }

  /** One that goes its own way from here on. */
  copy(): KeyValues {
    const copy = new KeyValues();
    copy.#values = new Map(this.#values);
    copy.#before = new Map(this.#before);
    return copy;
  }

  snapshot(): KeyValuesSnapshot {
    return { values: [...this.#values], before: [...this.#before] };
  }

  /** A missing key is not a stored null. */
  read(key: string): { readonly found: true; readonly value: JsonValue } | { readonly found: false } {
    const value = this.#values.get(key);
    return value === undefined ? { found: false } : { found: true, value };
  }

  apply(record: SessionRecord): void {
    switch (record.type) {
      case 'kv_put':
        this.#remember(record.data.key);
        this.#values.set(record.data.key, deepFreeze(record.data.value));
        return;
      case 'kv_deleted':
        this.#remember(record.data.key);
        this.#values.delete(record.data.key);
        return;
      case 'session_ready':
      case 'turn_ended':
        this.#before.clear();
        return;
      case 'session_resumed':
        for (const [key, before] of this.#before) {
          if (before === null) this.#values.delete(key);
          else this.#values.set(key, before.value);
        }
        this.#before.clear();
        return;
      default:
        return;
    }
  }

  #remember(key: string): void {
    if (this.#before.has(key)) return;
    const value = this.#values.get(key);
    this.#before.set(key, value === undefined ? null : { value });
  }
}
