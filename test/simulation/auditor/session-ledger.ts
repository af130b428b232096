/**
 * One session as its records make it: a small model of its own, written from the design and not from the charts. It says
 * what is broken in the row of records, and what everybody must be shown of it.
 */
import { QUEUE_MESSAGES_MAX } from '../bounds.ts';
import { expectThat } from './violation.ts';
import type { WrittenRecord } from './journal-bytes.ts';

export interface LedgerTurn {
  readonly message: number;
  readonly started: number;
  activation: number | null;
  cancel: string | null;
}

type Plain = Readonly<Record<string, unknown>>;
type Reference = { readonly sequences: readonly number[] };

/** What of a request its start record has. */
interface RecordedContext {
  readonly delta: { readonly from: number; readonly messages: readonly unknown[] } | null;
  readonly system?: string | null;
  readonly tools?: readonly string[];
  readonly parameters?: unknown;
}

export interface SentRequest {
  readonly messages: readonly unknown[];
  readonly system: unknown;
  readonly tools: readonly unknown[];
  readonly parameters: unknown;
}

const CODE_OF_CANCEL: Readonly<Record<string, string>> = {
  caller: 'cancelled',
  deadline: 'turn_timeout',
  close: 'closed',
  shutdown: 'shutdown',
};
const EFFECTS = new Set(['activation', 'model_call', 'tool_call', 'environment_setup', 'environment_detach', 'environment_teardown']);
/** The effects that are none of a turn's, and the states in which they may be under way. */
const OPEN_AT_REST: Readonly<Record<string, readonly string[]>> = {
  environment_setup: ['creating'],
  environment_detach: ['ending'],
  environment_teardown: ['unusable', 'ending', 'ended'],
};
const PRIVATE = new Set(['session_suspended', 'kv_put', 'kv_deleted', 'request_answered']);

export interface LedgerEnvironment {
  /** `perhaps`: nobody knows. */
  readonly standing: 'perhaps' | 'attached' | 'detached' | 'gone';
  readonly operations: readonly number[];
}

export class SessionLedger {
  readonly records: WrittenRecord[] = [];
  created: Plain = {};
  state = 'none';
  turn: LedgerTurn | null = null;
  waiting: number[] = [];
  readonly open = new Map<number, string>();
  readonly outcomes = new Map<number, string>();
  endAsked = false;
  checkpoint = 0;
  transcript: readonly unknown[] = [];
  values: ReadonlyMap<string, unknown> = new Map();
  metadata: unknown = {};
  /** Sequences that a resume went back behind. */
  readonly dropped = new Set<number>();
  /** Its environments that were asked for anything, by name. */
  readonly environments = new Map<string, LedgerEnvironment>();
  isDeleteAsked = false;
  readonly #keys = new Set<string>();
  readonly #messageKeys = new Set<unknown>();
  readonly #held = new Map<number, unknown>();
  readonly #calls = new Map<number, string>();
  #checkpointTranscript: readonly unknown[] = [];
  #checkpointWaiting: readonly number[] = [];
  #checkpointValues: ReadonlyMap<string, unknown> = new Map();

  get last(): number {
    return this.records.length;
  }

  get tenant(): string {
    return this.created['tenant'] as string;
  }

  enter(record: WrittenRecord): void {
    const { sequence, type, data } = record;
    const before = this.state;
    const at = (): string => `record ${sequence} ${type} in ${before}`;
    expectThat(sequence === this.last + 1, 1, () => `${at()} follows record ${this.last}`);
    expectThat((type === 'session_created') === (sequence === 1), 1, () => `${at()}: a session begins with its creation, once`);
    const previous = this.records.at(-1);
    expectThat(previous === undefined || record.recorded_at >= previous.recorded_at, 1, () => `${at()} is older than the one before it`);
    const isAfterEnd = before === 'ended' && type !== 'session_delete_requested' && type !== 'request_answered' && !type.startsWith('environment_teardown_');
    expectThat(!isAfterEnd, 7, () => `${at()}: the session had ended`);
    this.records.push(record);
    if (record.request !== undefined) {
      const key = `${record.request.route} ${record.request.key}`;
      expectThat(!this.#keys.has(key), 9, () => `${at()} is the second of key ${key}`);
      this.#keys.add(key);
    }
    this.#effect(record);
    this.#environment(record);
    this.#turn(record);
    this.#contents(record);
    this.state = this.#stateAfter(type, data);
    expectThat(record.state === this.state, 7, () => `${at()} says that it led to ${record.state}, and it led to ${this.state}`);
  }

  /** What holds where a commit ends. */
  endOfCommit(): void {
    expectThat(this.waiting.length <= QUEUE_MESSAGES_MAX, 10, () => `at ${this.last} ${this.waiting.length} messages wait`);
    if (this.state.startsWith('running')) return;
    const at = `at ${this.last} in ${this.state}`;
    const stray = [...this.open].filter(([, kind]) => OPEN_AT_REST[kind]?.includes(this.state) !== true);
    expectThat(stray.length === 0, 5, () => `${at} effects are open: ${stray.map(([sequence]) => sequence).join(', ')}`);
    const isWaiting = this.state === 'creating' || this.state === 'ending';
    expectThat(!isWaiting || this.open.size > 0, 13, () => `${at} nothing is waited for`);
    expectThat(this.turn === null, 7, () => `${at} a turn is open`);
    expectThat(this.waiting.length === 0, 10, () => `${at} messages wait: ${this.waiting.join(', ')}`);
    expectThat(!this.endAsked || this.state === 'creating', 13, () => `${at} an end that was asked for is not carried out`);
  }

  /** The first public event after a sequence. */
  nextPublic(after: number): Plain | null {
    for (const record of this.records.slice(after)) {
      const event = publicOf(record);
      if (event !== null) return event;
    }
    return null;
  }

  /** A request, from its start record: the transcript and the creation as they are, changed as the record says. */
  requestOf(started: WrittenRecord): SentRequest {
    const { delta, system, tools, parameters } = started.data['context'] as RecordedContext;
    const created = this.created['tools'] as readonly Plain[];
    const offered = tools === undefined ? created : tools.map((name) => created.find((tool) => tool['name'] === name));
    return {
      messages: delta === null ? this.transcript : [...this.transcript.slice(0, delta.from), ...delta.messages.map((one) => this.#resolve(one))],
      system: system === undefined ? this.created['system'] : (system ?? undefined),
      tools: offered.map((tool) => ({ name: tool?.['name'], description: tool?.['description'], input_schema: tool?.['input_schema'] })),
      parameters,
    };
  }

  messageOf(sequence: number): unknown {
    return this.#held.get(sequence);
  }

  #effect({ sequence, type, data }: WrittenRecord): void {
    const [, kind = '', phase = ''] = /^(.*)_(started|ended|failed)$/.exec(type) ?? [];
    if (!EFFECTS.has(kind)) return;
    if (phase === 'started') {
      const isOfTurn = kind === 'activation' || (this.turn?.activation !== null && this.state === 'running.working');
      const isAllowed = kind in OPEN_AT_REST ? OPEN_AT_REST[kind]?.includes(this.state) === true : isOfTurn;
      expectThat(isAllowed, 4, () => `record ${sequence} starts a ${kind} in ${this.state}`);
      this.open.set(sequence, kind);
      return;
    }
    const started = data['started_sequence'] as number;
    expectThat(this.open.get(started) === kind, 4, () => `record ${sequence} ${type} ends ${started}, which is no open ${kind}`);
    this.open.delete(started);
    this.outcomes.set(started, typeof data['outcome'] === 'string' ? data['outcome'] : phase);
  }

  /** An environment is set up once, detached once, and torn down until it is gone. */
  #environment({ sequence, type, data }: WrittenRecord): void {
    if (type === 'session_delete_requested') this.isDeleteAsked = true;
    if (type === 'session_ready') {
      const missing = this.#declared.filter((name) => this.environments.get(name)?.standing !== 'attached');
      expectThat(missing.length === 0, 16, () => `the session is ready at ${sequence}, and these are not set up: ${missing.join(', ')}`);
    }
    const [, operation = '', phase = ''] = /^environment_(.*)_(started|ended|failed)$/.exec(type) ?? [];
    if (phase === '') return;
    if (phase === 'started') {
      const name = data['environment'] as string;
      const before = this.environments.get(name);
      const isUnderWay = this.open.has(before?.operations.at(-1) ?? 0);
      const may = { setup: before === undefined && this.#declared.includes(name), detach: before?.standing === 'attached', teardown: this.isDeleteAsked && before !== undefined && before.standing !== 'gone' }[operation];
      expectThat(may === true && !isUnderWay, 16, () => `record ${sequence} starts a ${operation} of ${name}, which is ${before?.standing ?? 'not there'}`);
      const standing = operation === 'detach' ? 'detached' : 'perhaps';
      this.environments.set(name, { standing, operations: [...(before?.operations ?? []), sequence] });
      return;
    }
    const started = data['started_sequence'] as number;
    for (const [name, { operations }] of this.environments) {
      if (operations.at(-1) !== started) continue;
      const isKnownNothing = operation === 'setup' && phase === 'failed' && data['outcome'] === 'failed';
      const isGone = isKnownNothing || (operation === 'teardown' && phase === 'ended');
      if (isGone) this.environments.set(name, { standing: 'gone', operations });
      else if (operation === 'setup' && phase === 'ended') this.environments.set(name, { standing: 'attached', operations });
    }
  }

  get #declared(): readonly string[] {
    return (this.created['environments'] as readonly { readonly name: string }[]).map(({ name }) => name);
  }

  #turn({ sequence, type, data }: WrittenRecord): void {
    const message = data['message_sequence'] as number;
    const { turn } = this;
    switch (type) {
      case 'message_queued':
        expectThat(!this.endAsked && !['creating', 'running.cancelling', 'ending', 'ended', 'interrupted', 'failed', 'unusable'].includes(this.state), 7, () => `message ${sequence} is taken in ${this.state}`);
        this.waiting.push(sequence);
        if (data['key'] === undefined) return;
        expectThat(!this.#messageKeys.has(data['key']), 9, () => `message ${sequence} is the second of key ${String(data['key'])}`);
        this.#messageKeys.add(data['key']);
        return;
      case 'message_withdrawn':
      case 'message_failed':
        expectThat(this.waiting.includes(message), 10, () => `message ${message} is let go of at ${sequence} and does not wait`);
        this.waiting = this.waiting.filter((one) => one !== message);
        return;
      case 'turn_started':
        expectThat(turn === null, 7, () => `turn ${sequence} starts while another is open`);
        expectThat(this.waiting[0] === message, 10, () => `turn ${sequence} is for ${message}, and ${String(this.waiting[0])} waited longest`);
        this.waiting.shift();
        this.turn = { message, started: sequence, activation: null, cancel: null };
        return;
      case 'activation_started':
        expectThat(turn?.message === message && turn.activation === null && turn.cancel === null, 4, () => `a loop starts at ${sequence} that may not`);
        if (turn !== null) turn.activation = sequence;
        return;
      case 'turn_cancel_requested': {
        const by = data['by'] as string;
        if (turn !== null && (turn.cancel === null || by === 'caller')) turn.cancel = by;
        return;
      }
      case 'turn_ended':
      case 'turn_failed': {
        expectThat(turn?.message === message && this.open.size === 0, 4, () => `turn of ${message} closes at ${sequence} with effects open, or is not open`);
        const cancel = turn?.cancel ?? null;
        const isAsItWasStopped = cancel === null || (type === 'turn_failed' && data['code'] === CODE_OF_CANCEL[cancel]);
        expectThat(isAsItWasStopped, 13, () => `the turn that ${String(cancel)} stopped closes as ${type} ${String(data['code'])}`);
        const next = this.waiting[0] ?? null;
        const saysWhatFollows = data['end'] === this.endAsked && (type === 'turn_failed' ? next === null : data['next'] === next);
        expectThat(saysWhatFollows, 10, () => `the turn of ${message} closes at ${sequence}: ${String(next)} waits, the end is ${this.endAsked ? '' : 'not '}asked for, and its record says otherwise`);
        this.turn = null;
        return;
      }
      case 'session_end_requested':
        this.endAsked = true;
        return;
      case 'session_ending':
        this.endAsked = false;
        return;
      default:
        return;
    }
  }

  #contents({ sequence, type, data }: WrittenRecord): void {
    switch (type) {
      case 'session_created':
        this.created = data;
        this.metadata = data['metadata'];
        return;
      case 'session_metadata_changed':
        this.metadata = data['metadata'];
        return;
      case 'message_queued': {
        const input = data['input'];
        this.#held.set(sequence, { role: 'user', content: typeof input === 'string' ? textBlocks(input) : input });
        return;
      }
      case 'model_call_ended':
        this.#held.set(sequence, data['message']);
        return;
      case 'tool_call_started':
        this.#calls.set(sequence, data['tool_use_id'] as string);
        return;
      case 'tool_call_ended': {
        const { output, is_error, outcome } = data;
        const content = output === null ? [] : textBlocks(typeof output === 'string' ? output : JSON.stringify(output));
        const tool_use_id = this.#calls.get(data['started_sequence'] as number);
        this.#held.set(sequence, { type: 'tool_result', tool_use_id, content, is_error, outcome });
        return;
      }
      case 'transcript_delta': {
        const messages = (data['messages'] as readonly unknown[]).map((one) => this.#resolve(one));
        this.transcript = [...this.transcript.slice(0, data['from'] as number), ...messages];
        return;
      }
      case 'kv_put':
        this.values = new Map(this.values).set(data['key'] as string, data['value']);
        return;
      case 'kv_deleted':
        this.values = new Map([...this.values].filter(([key]) => key !== data['key']));
        return;
      case 'session_ready':
      case 'turn_ended':
        this.checkpoint = sequence;
        this.#checkpointWaiting = [...this.waiting];
        this.#checkpointTranscript = this.transcript;
        this.#checkpointValues = this.values;
        return;
      case 'session_resumed':
        expectThat(data['checkpoint_sequence'] === this.checkpoint, 14, () => `the resume at ${sequence} does not go back to ${this.checkpoint}`);
        this.transcript = this.#checkpointTranscript;
        this.values = this.#checkpointValues;
        for (let one = this.checkpoint + 1; one < sequence; one += 1) this.dropped.add(one);
        // Messages that waited there had their turns, or failed, in what is dropped.
        for (const message of this.#checkpointWaiting) this.dropped.add(message);
        return;
      default:
        return;
    }
  }

  #resolve(given: unknown): unknown {
    if (typeof given !== 'object' || given === null || !('sequences' in given)) return given;
    const held = (given as Reference).sequences.map((sequence) => this.#held.get(sequence));
    const [first] = held;
    const isResult = typeof first === 'object' && first !== null && 'type' in first;
    return isResult ? { role: 'user', content: held } : first;
  }

  #stateAfter(type: string, data: Plain): string {
    const rest = this.created['retain'] === null ? 'suspended' : 'idle';
    const isHeld = this.created['after_stop'] === 'hold';
    switch (type) {
      case 'session_created':
        return 'creating';
      case 'session_ready':
      case 'session_resumed':
        return rest;
      case 'session_suspended':
        return 'suspended';
      case 'turn_started':
        return 'running.working';
      case 'turn_cancel_requested':
        return 'running.cancelling';
      case 'turn_ended':
        return rest;
      case 'turn_failed':
        if (!isHeld) return rest;
        return data['code'] === 'cancelled' ? 'interrupted' : 'failed';
      case 'session_failed':
        return 'unusable';
      case 'session_ending':
        return 'ending';
      case 'session_ended':
        return 'ended';
      case 'session_delete_requested':
        return this.state === 'failed' ? 'unusable' : this.state;
      default:
        return this.state;
    }
  }
}

/** What a public reader is shown of a record; null for a private one. */
export function publicOf({ sequence, recorded_at, type, data }: WrittenRecord): Plain | null {
  if (PRIVATE.has(type)) return null;
  if (type === 'transcript_delta') return data['replaces'] === undefined ? null : { sequence, recorded_at, type: 'transcript_replaced', data };
  if (type !== 'extension_emitted') return { sequence, recorded_at, type, data };
  return { sequence, recorded_at, type: data['name'], data: data['data'], origin: data['origin'] };
}

function textBlocks(text: string): readonly unknown[] {
  return text === '' ? [] : [{ type: 'text', text }];
}
