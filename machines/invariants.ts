/**
 * The lifecycle's invariants, asked of a journal's records alone. Nothing here uses the charts: a chart that is wrong is
 * found out and not believed.
 *
 *   I1. Sequences are 1, 2, 3, …; the first record is the creation, and there is one.
 *   I2. One turn at a time; it is started for a message that was queued, the one that waited longest.
 *   I3. Every message is queued once and leaves the queue once: run, withdrawn or failed.
 *   I4. Every terminal record names one started effect of its kind, and no effect has two.
 *   I5. Effects of a turn start only while its loop runs and nobody has stopped it.
 *   I6. Nothing is open, and no message waits, where a turn is over or the session is at rest.
 *   I7. A turn that was stopped fails, with the code of who stopped it.
 *   I8. Nothing but answers, teardowns and deletes comes after `session_ended`.
 *   I9. A record of a turn names the running turn's message.
 *   I10. A message's key names one message of the session.
 *   I11. An environment of the session is set up once, by the creation; a session is ready where all of its own are attached.
 *   I12. An environment is asked one thing at a time: to detach once, after `session_ending`, where it is attached; to tear
 *        down after a delete was asked for, where it may be there.
 */
import { EnvironmentLedger } from './environment-invariants.ts';
import type { CancelBy, RecordType, Sequence, SessionRecord, TurnFailureCode } from './records.ts';

export interface BrokenInvariant {
  readonly invariant: `I${number}`;
  readonly sequence: Sequence;
  readonly reason: string;
}

/** At rest: nobody works on the session, and nothing of it is under way. */
const STATES_AT_REST: ReadonlySet<string> = new Set(['idle', 'suspended', 'interrupted', 'failed']);

const AFTER_ENDED: ReadonlySet<RecordType> = new Set([
  'request_answered',
  'session_delete_requested',
  'environment_teardown_started',
  'environment_teardown_ended',
  'environment_teardown_failed',
]);

const CODE_OF: Readonly<Record<CancelBy, TurnFailureCode>> = {
  caller: 'cancelled',
  deadline: 'turn_timeout',
  close: 'closed',
  shutdown: 'shutdown',
};

/** Whose cancel counts where several are recorded: the first, but a caller's over a deadline's and a shutdown's. */
function cancelAfter(before: CancelBy | null, by: CancelBy): CancelBy {
  if (before === null) return by;
  return by === 'caller' && (before === 'deadline' || before === 'shutdown') ? by : before;
}

/** What is broken in a whole journal, or in its beginning up to the end of a commit; nothing where all holds. */
export function brokenInvariants(records: readonly SessionRecord[]): readonly BrokenInvariant[] {
  const ledger = new Ledger();
  for (const record of records) ledger.enter(record);
  ledger.close(records.at(-1));
  return ledger.broken;
}

interface RunningTurn {
  readonly message: Sequence;
  activation: Sequence | null;
  cancel: CancelBy | null;
}

class Ledger {
  readonly broken: BrokenInvariant[] = [];
  readonly #started = new Map<Sequence, string>();
  readonly #closed = new Set<Sequence>();
  readonly #keys = new Set<string>();
  readonly #environments = new EnvironmentLedger();
  #waiting: readonly Sequence[] = [];
  #turn: RunningTurn | null = null;
  #ended = false;
  #last: Sequence = 0;

  enter(record: SessionRecord): void {
    const { type, sequence } = record;
    this.#expect('I1', record, sequence === this.#last + 1, `it follows ${this.#last}`);
    this.#expect('I1', record, (type === 'session_created') === (sequence === 1), 'a creation is the first record, and only that');
    this.#last = sequence;
    this.#expect('I8', record, !this.#ended || AFTER_ENDED.has(type), 'the session had ended');
    if (type === 'session_ended') this.#ended = true;

    this.#enterMessage(record);
    const broken = this.#environments.enter(record);
    if (broken !== null) this.#expect(broken.invariant, record, false, broken.reason);
    this.#enterEffect(record);
    this.#enterTurn(record);
  }

  /** What holds where a commit ends. */
  close(last: SessionRecord | undefined): void {
    if (last === undefined || !STATES_AT_REST.has(last.state)) return;
    const open = [...this.#started.keys()].filter((sequence) => !this.#closed.has(sequence));
    this.#expect('I6', last, open.length === 0, `effects are open at rest: ${open.join(', ')}`);
    this.#expect('I6', last, this.#waiting.length === 0, `messages wait at rest: ${this.#waiting.join(', ')}`);
    this.#expect('I6', last, this.#turn === null, 'a turn runs at rest');
  }

  #enterMessage(record: SessionRecord): void {
    if (record.type === 'message_queued') {
      const { key } = record.data;
      this.#expect('I10', record, key === undefined || !this.#keys.has(key), `an earlier message has the key ${key ?? ''}`);
      if (key !== undefined) this.#keys.add(key);
      this.#waiting = [...this.#waiting, record.sequence];
    }
    if (record.type !== 'turn_started' && record.type !== 'message_withdrawn' && record.type !== 'message_failed') return;
    const { message_sequence } = record.data;
    this.#expect('I3', record, this.#waiting.includes(message_sequence), `message ${message_sequence} does not wait`);
    if (record.type === 'turn_started') {
      this.#expect('I2', record, this.#waiting[0] === message_sequence, `message ${this.#waiting[0]} waited longer`);
    }
    this.#waiting = this.#waiting.filter((waiting) => waiting !== message_sequence);
  }

  #enterEffect(record: SessionRecord): void {
    const kind = record.type.replace(/_(started|ended|failed)$/, '');
    if (kind !== 'activation' && kind !== 'model_call' && kind !== 'tool_call' && !kind.startsWith('environment_')) return;
    if (!('started_sequence' in record.data)) {
      this.#started.set(record.sequence, kind);
      return;
    }
    const { started_sequence } = record.data;
    this.#expect('I4', record, this.#started.get(started_sequence) === kind, `${started_sequence} started no ${kind}`);
    this.#expect('I4', record, !this.#closed.has(started_sequence), `${started_sequence} is closed already`);
    this.#closed.add(started_sequence);
  }

  #enterTurn(record: SessionRecord): void {
    if (record.type === 'turn_started') {
      this.#expect('I2', record, this.#turn === null, 'another turn runs');
      this.#turn = { message: record.data.message_sequence, activation: null, cancel: null };
      return;
    }
    if (!isOfTurn(record)) return;
    const turn = this.#turn;
    this.#expect('I9', record, turn?.message === record.data.message_sequence, 'the turn that it names does not run');
    if (turn === null) return;

    switch (record.type) {
      case 'turn_cancel_requested':
        turn.cancel = cancelAfter(turn.cancel, record.data.by);
        return;
      case 'activation_started':
        this.#expect('I5', record, turn.activation === null && turn.cancel === null, 'the loop ran already, or is stopped');
        turn.activation = record.sequence;
        return;
      case 'model_call_started':
      case 'tool_call_started': {
        const isRunning = turn.activation !== null && !this.#closed.has(turn.activation);
        this.#expect('I5', record, isRunning && turn.cancel === null, 'the loop does not run, or is stopped');
        return;
      }
      case 'turn_ended':
        this.#expect('I7', record, turn.cancel === null, `the turn was stopped by ${turn.cancel ?? ''}`);
        this.#expect('I6', record, record.data.next === (this.#waiting[0] ?? null), 'it does not say what follows');
        this.#closeTurn(record);
        return;
      case 'turn_failed':
        if (turn.cancel !== null) {
          this.#expect('I7', record, record.data.code === CODE_OF[turn.cancel], `the turn was stopped by ${turn.cancel}`);
        }
        this.#expect('I6', record, this.#waiting.length === 0, 'messages wait behind a stopped turn');
        this.#closeTurn(record);
        return;
      default:
        return;
    }
  }

  #closeTurn(record: SessionRecord): void {
    const open = [...this.#started.keys()].filter((sequence) => !this.#closed.has(sequence));
    this.#expect('I6', record, open.length === 0, `effects are open: ${open.join(', ')}`);
    this.#turn = null;
  }

  #expect(invariant: BrokenInvariant['invariant'], { sequence, type }: SessionRecord, holds: boolean, reason: string): void {
    if (!holds) this.broken.push({ invariant, sequence, reason: `${type}: ${reason}` });
  }
}

type OfTurnRecord = SessionRecord & { readonly data: { readonly message_sequence: Sequence } };

/** What only happens within a turn. A message's own records and the session's name a message too. */
function isOfTurn(record: SessionRecord): record is OfTurnRecord {
  if (record.type === 'turn_started' || record.type === 'session_ending') return false;
  if (record.type === 'message_withdrawn' || record.type === 'message_failed') return false;
  return 'message_sequence' in record.data;
}
