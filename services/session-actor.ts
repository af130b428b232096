/**
 * One live session: its mailbox, and the way of every command through decide, commit, evolve and react.
 *
 *   A1. Commands are decided in the order in which they came. Those that come in one moment, and those that come while a
 *       commit is under way, are decided together, each ahead of the session by what the ones before it became; their
 *       records make one frame and share its outcome.
 *   A2. Nothing is answered before what it was decided on is durable: a refusal or a "nothing to do" waits for the
 *       records of the commands before it, too.
 *   A3. What evolves the session is what the journal's bytes say, decoded again: live and replay cannot differ.
 *   A4. If a commit fails, its outcome is unknown and the actor is spent: everything that waits is rejected, and whoever
 *       comes next opens the session anew.
 *   A5. Reactions come after commit and evolve. They are told what happened, and are the only code with side effects. One
 *       is asked before: whether the loop of a turn that starts in a commit may start with it. It sets a slot aside.
 */
import { Ahead } from '../machines/ahead.ts';
import type { SessionSnapshot } from '../machines/chart-step.ts';
import type { Command } from '../machines/commands.ts';
import { decide, type Decision, type RefusalCode, type Rules } from '../machines/decide.ts';
import type { FirstRequest } from '../machines/projections/keyed-requests.ts';
import type { ChartState } from '../machines/projections/status.ts';
import type { SessionState } from '../machines/replay.ts';
import type { KeyedRequest, Sequence, SessionRecord } from '../machines/records.ts';
import { FRAME_PAYLOAD_BYTES_MAX } from '../storage/frame.ts';
import type { Journal, StoredFrame } from '../storage/journal.ts';
import type { Clock } from './ports.ts';
import { decodeRecords, encodeRecord, payloadBytesOf, payloadOf, timed } from './record-codec.ts';

// A reader holds a frame whole, for as long as it takes to send it on: what waits together is written in frames of about
// this size, and only a single command's records may make a larger one.
const BATCH_BYTES_MAX = 256 * 1024;

export type Receipt =
  | { readonly kind: 'committed'; readonly records: readonly SessionRecord[] }
  | { readonly kind: 'nothing' }
  /** The request was made before, under the same key: nothing was decided. */
  | { readonly kind: 'repeated'; readonly first: FirstRequest }
  /** A message with the same key is recorded already: nothing was decided. */
  | { readonly kind: 'known_message'; readonly sequence: Sequence }
  | { readonly kind: 'refused'; readonly code: RefusalCode | 'too_large'; readonly state: ChartState };

export interface Reactions {
  /** What starts the loop of a turn in the commit that starts the turn; null where the loop has to wait. */
  activation(messageSequence: Sequence): Command | null;
  /** Called once a commit is durable and the state has evolved, in order. `payloadBytes`: what its records take. */
  committed(records: readonly SessionRecord[], payloadBytes: number): void;
  /** Called when the mailbox is empty and nothing is under way. */
  quiet(): void;
  /** Called once, when a commit failed: the actor takes nothing any more. */
  spent(error: unknown): void;
}

interface Waiting {
  readonly command: Command;
  readonly request: KeyedRequest | undefined;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
}

/** `records`: those of the commit that are this command's. */
type Outcome = { readonly kind: 'records'; readonly records: readonly SessionRecord[] } | Exclude<Receipt, { kind: 'committed' }>;

interface Decided {
  readonly waiting: Waiting;
  readonly outcome: Outcome;
}

/** A command's records before they are part of a commit. */
interface Addition {
  readonly kind: 'records';
  readonly records: readonly SessionRecord[];
  readonly encoded: readonly string[];
  readonly snapshot: SessionSnapshot;
}

/** The actor was released or spent: the session has to be opened again. */
export class ActorStopped extends Error {
  override readonly name = 'ActorStopped';
}

export class SessionActor {
  readonly state: SessionState;
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #rules: Rules;
  readonly #reactions: Reactions;
  readonly #mailbox: Waiting[] = [];
  #isWorking = false;
  #stoppedBy: { readonly error: unknown } | null = null;
  #hasCommitted = false;

  constructor(parts: {
    readonly state: SessionState;
    readonly journal: Journal;
    readonly clock: Clock;
    readonly rules: Rules;
    readonly reactions: Reactions;
  }) {
    this.state = parts.state;
    this.#journal = parts.journal;
    this.#clock = parts.clock;
    this.#rules = parts.rules;
    this.#reactions = parts.reactions;
  }

  get isQuiet(): boolean {
    return !this.#isWorking && this.#mailbox.length === 0;
  }

  /** Whether it takes nothing any more. */
  get isStopped(): boolean {
    return this.#stoppedBy !== null;
  }

  /** False while all that is in the journal was recorded by others: a stay in idle that it tells of is over. */
  get hasCommitted(): boolean {
    return this.#hasCommitted;
  }

  /** The journal from a sequence on, as far as it is acknowledged. */
  history(after: Sequence): AsyncIterable<StoredFrame> {
    return this.#journal.read(after);
  }

  /** Rejects with what stopped the actor, or with the storage error that made the commit's outcome unknown. */
  submit(command: Command, request?: KeyedRequest): Promise<Receipt> {
    if (this.#stoppedBy !== null) return Promise.reject(new ActorStopped('the actor is stopped', { cause: this.#stoppedBy.error }));
    return new Promise((resolve, reject) => {
      this.#mailbox.push({ command, request, resolve, reject });
      if (this.#isWorking) return;
      this.#isWorking = true;
      this.#clock.soon(() => void this.#work());
    });
  }

  /** Takes nothing any more; what waits is rejected. A commit under way is not waited for. */
  stop(error: unknown = null): void {
    this.#stoppedBy ??= { error };
    const waiting = this.#mailbox.splice(0);
    for (const { reject } of waiting) reject(new ActorStopped('the actor was stopped', { cause: error }));
  }

  /** Never rejects: whatever fails spends the actor. */
  async #work(): Promise<void> {
    while (this.#stoppedBy === null && this.#mailbox.length > 0) {
      const taken: Decided[] = [];
      try {
        await this.#commit(taken);
      } catch (error) {
        this.stop(error);
        for (const { waiting } of taken) waiting.reject(error);
        this.#reactions.spent(error);
      }
    }
    this.#isWorking = false;
    if (this.#stoppedBy === null) this.#reactions.quiet();
  }

  async #commit(taken: Decided[]): Promise<void> {
    const encoded = this.#decideBatch(taken);
    if (encoded.length === 0) {
      for (const one of taken) answer(one, []);
      return;
    }
    const payload = payloadOf(encoded);
    await this.#journal.append({ firstSequence: this.state.lastSequence + 1, recordCount: encoded.length, payload });
    const committed = decodeRecords(payload);
    for (const record of committed) this.state.apply(record);
    this.#hasCommitted = true;
    this.#reactions.committed(committed, payload.length);
    let at = 0;
    for (const one of taken) {
      const count = one.outcome.kind === 'records' ? one.outcome.records.length : 0;
      answer(one, committed.slice(at, at + count));
      at += count;
    }
  }

  /** Takes as many commands as go into one frame. */
  #decideBatch(taken: Decided[]): readonly string[] {
    const encoded: string[] = [];
    const ahead = new Ahead(this.state, this.#hasCommitted);
    let bytes = 0;
    // A session's time never goes back, whatever the clock does.
    const recorded_at = Math.max(this.#clock.now(), this.state.lastSequence === 0 ? 0 : this.state.facts.recorded_at);
    for (let next = this.#mailbox[0]; next !== undefined; next = this.#mailbox[0]) {
      const outcome = this.#knownAlready(next, ahead.decided) ?? this.#decideOne(next, ahead, recorded_at);
      if (outcome === null) continue;
      if (outcome.kind !== 'records') {
        this.#mailbox.shift();
        taken.push({ waiting: next, outcome });
        continue;
      }
      const addedBytes = payloadBytesOf(outcome.encoded);
      if (addedBytes > FRAME_PAYLOAD_BYTES_MAX) {
        this.#mailbox.shift();
        taken.push({ waiting: next, outcome: { kind: 'refused', code: 'too_large', state: this.state.state } });
        continue;
      }
      if (encoded.length > 0 && bytes + addedBytes > BATCH_BYTES_MAX) break;
      const records = [...outcome.records];
      encoded.push(...outcome.encoded);
      bytes += addedBytes;
      ahead.add(outcome.records, outcome.snapshot);
      this.#mailbox.shift();
      taken.push({ waiting: next, outcome: { kind: 'records', records } });
      const activation = bytes > BATCH_BYTES_MAX ? null : this.#activationBehind(records, ahead, recorded_at);
      if (activation === null) continue;
      records.push(...activation.records);
      encoded.push(...activation.encoded);
      bytes += payloadBytesOf(activation.encoded);
      ahead.add(activation.records, activation.snapshot);
    }
    return encoded;
  }

  /** The start of the loop whose turn these records start, where it may run at once. */
  #activationBehind(records: readonly SessionRecord[], ahead: Ahead, recorded_at: number): Addition | null {
    const started = records.find((record) => record.type === 'turn_started');
    const command = started === undefined ? null : this.#reactions.activation(started.data.message_sequence);
    if (command === null) return null;
    const decision = decide(ahead, command, this.#rules);
    if (decision.kind !== 'records') throw new Error('a turn that starts has no loop yet');
    return additionOf(decision, recorded_at);
  }

  /** What stands for a decision where the keyed request or the message came before. */
  #knownAlready({ command, request }: Waiting, decided: readonly SessionRecord[]): Extract<Outcome, { kind: 'repeated' | 'known_message' }> | null {
    const first = request === undefined ? null : this.#firstOf(request, decided);
    if (first !== null) return { kind: 'repeated', first };
    const sequence = command.kind === 'send' && command.key !== undefined ? this.#messageOf(command.key, decided) : null;
    return sequence === null ? null : { kind: 'known_message', sequence };
  }

  /** What a keyed request first caused: in the journal, or in the commit that is being put together. */
  #firstOf(request: KeyedRequest, decided: readonly SessionRecord[]): FirstRequest | null {
    const here = decided.filter(isKeyed).find(({ request: { key, route } }) => key === request.key && route === request.route);
    if (here !== undefined) return { sequence: here.sequence, body: here.request.body };
    return this.state.requests.find(request, this.#clock.now());
  }

  /** The message of a key: in the journal, or in the commit that is being put together. */
  #messageOf(key: string, decided: readonly SessionRecord[]): Sequence | null {
    const here = decided.find((record) => record.type === 'message_queued' && record.data.key === key);
    return here?.sequence ?? this.state.messageKeys.find(key);
  }

  /** A command that cannot be decided or encoded costs itself alone: nothing of it was written. Null: it was rejected. */
  #decideOne(next: Waiting, ahead: Ahead, recorded_at: number): Addition | Exclude<Decision, { kind: 'records' }> | null {
    try {
      const decision = decide(ahead, next.command, this.#rules, next.request);
      return decision.kind === 'records' ? additionOf(decision, recorded_at) : decision;
    } catch (error) {
      this.#mailbox.shift();
      next.reject(error);
      return null;
    }
  }
}

type KeyedRecord = SessionRecord & { readonly request: KeyedRequest };

function isKeyed(record: SessionRecord): record is KeyedRecord {
  return record.request !== undefined;
}

function additionOf({ records, snapshot }: Extract<Decision, { kind: 'records' }>, recorded_at: number): Addition {
  const added = records.map((record) => timed(record, recorded_at));
  return { kind: 'records', records: added, encoded: added.map(encodeRecord), snapshot };
}

function answer({ waiting, outcome }: Decided, records: readonly SessionRecord[]): void {
  waiting.resolve(outcome.kind === 'records' ? { kind: 'committed', records } : outcome);
}
