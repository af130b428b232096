/**
 * A dry run: the chart is asked about each record before it is written, and moves on with each, without an actor and
 * without an effect. A record that the chart refuses or throws on never becomes durable.
 */
import { stateOf, stepOf, type SessionSnapshot } from './chart-step.ts';
import type { NewRecord, RecordData, RecordType, Sequence } from './records.ts';
import type { ChartState } from './projections/status.ts';
import type { SessionContext } from './session-context.ts';

/** A record with its place and the state that it leads to: all that it will have but its time. */
export type DecidedRecord = NewRecord & { readonly state: ChartState };

/** A record that the chart does not accept where it stands. */
export class RefusedByChart extends Error {
  override readonly name = 'RefusedByChart';
  readonly state: ChartState;
  readonly type: RecordType;
  readonly sequence: Sequence;

  constructor(state: ChartState, record: NewRecord) {
    super(`the session chart does not accept ${record.type} (${record.sequence}) in ${state}`);
    this.state = state;
    this.type = record.type;
    this.sequence = record.sequence;
  }
}

/** The chart one record further on. Throws `RefusedByChart`, or whatever the chart throws. */
export function snapshotAfter(snapshot: SessionSnapshot, record: NewRecord): SessionSnapshot {
  const after = stepOf(snapshot, record);
  if (!hasTaken(after, record)) throw new RefusedByChart(stateOf(snapshot), record);
  return after;
}

/**
 * Whether the chart accepted the record that brought it here: every transition evolves the context, and what is not
 * accepted leaves it as it was. To ask `can` before would be to decide twice.
 */
export function hasTaken({ context }: SessionSnapshot, { sequence }: { readonly sequence: Sequence }): boolean {
  return context.last_sequence === sequence;
}

/** The records of one commit as they are decided, each on what the ones before it led to. */
export class Draft {
  #snapshot: SessionSnapshot;
  readonly #records: DecidedRecord[] = [];

  constructor(snapshot: SessionSnapshot) {
    this.#snapshot = snapshot;
  }

  get snapshot(): SessionSnapshot {
    return this.#snapshot;
  }

  get context(): SessionContext {
    return this.#snapshot.context;
  }

  get state(): ChartState {
    return stateOf(this.#snapshot);
  }

  get records(): readonly DecidedRecord[] {
    return this.#records;
  }

  /** Adds a record and answers its sequence. Throws `RefusedByChart` where the chart does not accept it. */
  add<T extends RecordType>(type: T, data: RecordData[T]): Sequence {
    const sequence = this.context.last_sequence + 1;
    this.#snapshot = snapshotAfter(this.#snapshot, { sequence, type, data } as unknown as NewRecord);
    this.#records.push({ sequence, type, state: this.state, data } as unknown as DecidedRecord);
    return sequence;
  }

  /** Whether a record would be accepted next. */
  accepts<T extends RecordType>(type: T, data: RecordData[T]): boolean {
    const record = { sequence: this.context.last_sequence + 1, type, data } as unknown as NewRecord;
    return this.#snapshot.can(record);
  }
}
