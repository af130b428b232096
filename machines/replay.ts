/**
 * A session as its records make it: the chart as a real XState actor, and the projections beside it. Live sessions,
 * recovery and every other reader evolve through the one function `apply`, so that a replay cannot disagree.
 *
 *   R1. Sequences are 1, 2, 3, …: a gap or a repeat is refused.
 *   R2. A record that the chart does not accept, or that leads to another state than it says, is refused with its
 *       sequence, its type and the state: never ignored.
 *   R3. After a refusal the state is spent: every later use throws.
 */
import { createActor, type Actor } from 'xstate';
import { DroppedTurns, type DroppedTurnsSnapshot } from './projections/dropped-turns.ts';
import { KeyValues, type KeyValuesSnapshot } from './projections/key-values.ts';
import { KeyedRequests, type KeyedRequestsSnapshot } from './projections/keyed-requests.ts';
import { MessageKeys, type MessageKeysSnapshot } from './projections/message-keys.ts';
import { factsAfter, type SessionFacts } from './projections/session-facts.ts';
import type { ChartState } from './projections/status.ts';
import { Transcript, type TranscriptSnapshot } from './projections/transcript.ts';
import { isRecordType, type Sequence, type SessionRecord } from './records.ts';
import { contextFrom, savedContext, type SavedContext, type SessionContext } from './session-context.ts';
import { sessionLogic, SNAPSHOT_OF_NO_SESSION, snapshotIn, stateOf, type SessionSnapshot } from './chart-step.ts';
import { hasTaken } from './dry-run.ts';

/**
 * The version of the charts and projections together: a saved snapshot of another version is rebuilt from the journal.
 * Raise it with every change of what a snapshot holds or of what a record does to it.
 */
export const STATE_VERSION = 4;

/** A record that cannot follow what came before it: the journal is damaged, or written by another chart. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError';
  readonly sequence: Sequence;
  readonly type: string;
  readonly state: ChartState;

  constructor(record: { readonly sequence: Sequence; readonly type: string }, state: ChartState, reason: string, cause?: unknown) {
    super(`record ${record.sequence} (${record.type}) in state ${state}: ${reason}`, { cause });
    this.sequence = record.sequence;
    this.type = record.type;
    this.state = state;
  }
}

/** All of a session's state as plain data. Disposable: the journal says the same. */
export interface StateSnapshot {
  readonly chart: { readonly state: ChartState; readonly context: SavedContext };
  readonly transcript: TranscriptSnapshot;
  readonly key_values: KeyValuesSnapshot;
  readonly dropped: DroppedTurnsSnapshot;
  readonly requests: KeyedRequestsSnapshot;
  readonly message_keys: MessageKeysSnapshot;
  readonly facts: SessionFacts;
  readonly delete_requested: boolean;
}

interface Parts {
  readonly snapshot: SessionSnapshot;
  readonly transcript: Transcript;
  readonly keyValues: KeyValues;
  readonly dropped: DroppedTurns;
  readonly requests: KeyedRequests;
  readonly messageKeys: MessageKeys;
  readonly facts: SessionFacts | null;
  readonly isDeleteRequested: boolean;
}

export class SessionState {
  readonly #chart: Actor<typeof sessionLogic>;
  readonly transcript: Transcript;
  readonly keyValues: KeyValues;
  readonly dropped: DroppedTurns;
  readonly requests: KeyedRequests;
  readonly messageKeys: MessageKeys;
  #facts: SessionFacts | null;
  #isDeleteRequested: boolean;
  /** The chart's, which each record asks for twice. */
  #state: ChartState;
  /** What the chart threw. Without an observer, XState would throw it from a timer. */
  #thrown: { readonly error: unknown } | null = null;

  private constructor(parts: Parts) {
    this.transcript = parts.transcript;
    this.keyValues = parts.keyValues;
    this.dropped = parts.dropped;
    this.requests = parts.requests;
    this.messageKeys = parts.messageKeys;
    this.#facts = parts.facts;
    this.#isDeleteRequested = parts.isDeleteRequested;
    this.#chart = createActor(sessionLogic, { snapshot: parts.snapshot });
    this.#chart.subscribe({ error: (error) => (this.#thrown = { error }) });
    this.#chart.start();
    this.#state = stateOf(this.snapshot);
  }

  /** Before the first record. */
  static empty(): SessionState {
    return new SessionState({
      snapshot: SNAPSHOT_OF_NO_SESSION,
      transcript: new Transcript(),
      keyValues: new KeyValues(),
      dropped: new DroppedTurns(),
      requests: new KeyedRequests(),
      messageKeys: new MessageKeys(),
      facts: null,
      isDeleteRequested: false,
    });
  }

  static from(saved: StateSnapshot): SessionState {
    return new SessionState({
      snapshot: snapshotIn(saved.chart.state, contextFrom(saved.chart.context)),
      transcript: Transcript.from(saved.transcript),
      keyValues: KeyValues.from(saved.key_values),
      dropped: DroppedTurns.from(saved.dropped),
      requests: KeyedRequests.from(saved.requests),
      messageKeys: MessageKeys.from(saved.message_keys),
      facts: saved.facts,
      isDeleteRequested: saved.delete_requested,
    });
  }

  get snapshot(): SessionSnapshot {
    return this.#chart.getSnapshot();
  }

  get context(): SessionContext {
    return this.snapshot.context;
  }

  get state(): ChartState {
    return this.#state;
  }

  get lastSequence(): Sequence {
    return this.context.last_sequence;
  }

  /** Throws before the first record. */
  get facts(): SessionFacts {
    if (this.#facts === null) throw new Error('there is no session before its first record');
    return this.#facts;
  }

  /** Whether a delete was recorded. Where one is carried out, nothing is left to say so. */
  get isDeleteRequested(): boolean {
    return this.#isDeleteRequested;
  }

  /** Evolves the session by one record. Throws `ReplayError`. */
  apply(record: SessionRecord): void {
    if (this.#thrown !== null) throw new ReplayError(record, this.state, 'an earlier record was refused', this.#thrown.error);
    const before = this.state;
    try {
      this.#evolve(record, before);
    } catch (error) {
      // Damage can be of any shape: whatever its data breaks, a guard or a projection, it is this record that is refused.
      const refusal = error instanceof ReplayError ? error : new ReplayError(record, before, 'the session cannot take it', error);
      this.#thrown ??= { error: refusal };
      throw refusal;
    }
  }

  toSnapshot(): StateSnapshot {
    return {
      chart: { state: this.state, context: savedContext(this.context) },
      transcript: this.transcript.snapshot(),
      key_values: this.keyValues.snapshot(),
      dropped: this.dropped.snapshot(),
      requests: this.requests.snapshot(),
      message_keys: this.messageKeys.snapshot(),
      facts: this.facts,
      delete_requested: this.#isDeleteRequested,
    };
  }

  #evolve(record: SessionRecord, before: ChartState): void {
    if (record.sequence !== this.lastSequence + 1) {
      throw new ReplayError(record, before, `the sequence after ${this.lastSequence} is ${this.lastSequence + 1}`);
    }
    // Only our vocabulary may reach the chart: a type such as XState's own would be obeyed as a command.
    if (!isRecordType(record.type)) throw new ReplayError(record, before, 'the record type is unknown');
    this.#chart.send(record);
    if (this.#thrown !== null) throw new ReplayError(record, before, 'the session chart threw', this.#thrown.error);
    const after = this.snapshot;
    if (!hasTaken(after, record)) throw new ReplayError(record, before, 'the session chart does not accept it');
    this.#state = stateOf(after);
    if (this.state !== record.state) {
      throw new ReplayError(record, before, `it says that it led to ${record.state}, and the session chart says ${this.state}`);
    }
    this.transcript.apply(record);
    this.keyValues.apply(record);
    this.dropped.apply(record);
    this.requests.apply(record);
    this.messageKeys.apply(record);
    this.#facts = factsAfter(this.#facts, record);
    if (record.type === 'session_delete_requested') this.#isDeleteRequested = true;
  }
}
