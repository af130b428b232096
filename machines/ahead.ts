/**
 * A session as it will stand once what is decided so far is committed: on this the next command of the same commit is
 * decided.
 *
 *   A1. The session itself is not touched: what is decided may never become durable.
 *   A2. Contents are carried on only where a command asks for them, and then on a copy.
 */
import type { SessionSnapshot } from './chart-step.ts';
import type { Standing } from './decide.ts';
import type { Metadata, SessionRecord } from './records.ts';
import type { KeyValues } from './projections/key-values.ts';
import type { Transcript } from './projections/transcript.ts';
import type { SessionState } from './replay.ts';

interface Contents<T> {
  copy(): T;
  apply(record: SessionRecord): void;
}

/** Contents that follow what is decided, as far as they were asked for. */
class Following<T extends Contents<T>> {
  readonly #committed: T;
  #copy: T | null = null;
  #count = 0;

  constructor(committed: T) {
    this.#committed = committed;
  }

  after(decided: readonly SessionRecord[]): T {
    if (decided.length === 0) return this.#committed;
    this.#copy ??= this.#committed.copy();
    for (const record of decided.slice(this.#count)) this.#copy.apply(record);
    this.#count = decided.length;
    return this.#copy;
  }
}

export class Ahead implements Standing {
  readonly #session: SessionState;
  readonly #wasResident: boolean;
  readonly #transcript: Following<Transcript>;
  readonly #keyValues: Following<KeyValues>;
  readonly #decided: SessionRecord[] = [];
  #snapshot: SessionSnapshot;

  constructor(session: SessionState, wasResident: boolean) {
    this.#session = session;
    this.#wasResident = wasResident;
    this.#transcript = new Following(session.transcript);
    this.#keyValues = new Following(session.keyValues);
    this.#snapshot = session.snapshot;
  }

  /** The records of the commit, so far. */
  get decided(): readonly SessionRecord[] {
    return this.#decided;
  }

  get snapshot(): SessionSnapshot {
    return this.#snapshot;
  }

  get transcript(): Transcript {
    return this.#transcript.after(this.#decided);
  }

  get keyValues(): KeyValues {
    return this.#keyValues.after(this.#decided);
  }

  get metadata(): Metadata {
    const changed = this.#decided.findLast((record) => record.type === 'session_metadata_changed' || record.type === 'session_created');
    if (changed !== undefined) return changed.data.metadata;
    return this.#session.lastSequence === 0 ? {} : this.#session.facts.metadata;
  }

  get wasResident(): boolean {
    return this.#wasResident || this.#decided.length > 0;
  }

  /** Goes on by what one more command became. */
  add(records: readonly SessionRecord[], snapshot: SessionSnapshot): void {
    this.#decided.push(...records);
    this.#snapshot = snapshot;
  }
}
