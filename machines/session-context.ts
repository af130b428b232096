/**
 * The facts that the session chart keeps beside its state, and how each record changes them. Sequences and small
 * settings only, never contents: a snapshot of a session is a few hundred bytes however long its history.
 */
import { assertNever } from './assert-never.ts';
import type { AfterStop, CancelBy, EffectOutcome, EndMode, NewRecord, RecordType, Retain, Sequence, SideEffect } from './records.ts';

export type EffectKind =
  | 'activation'
  | 'model_call'
  | 'tool_call'
  | 'environment_setup'
  | 'environment_detach'
  | 'environment_teardown';

/** The position that a resume goes back to: the creation's end, or the last completed turn's. */
export interface CheckpointPosition {
  readonly sequence: Sequence;
  readonly transcript_length: number;
}

/**
 * What is known of an environment: it is being set up; it is there; it is there and was told to let go; it may be there (a
 * setup came to no known end, or a teardown was begun and not done); or nothing of it is there.
 */
export type EnvironmentStanding = 'setting_up' | 'attached' | 'detached' | 'unknown' | 'absent';

export interface EnvironmentFacts {
  readonly standing: EnvironmentStanding;
  /** Its last operation's start record. */
  readonly operation: Sequence;
}

export interface OpenEffect {
  readonly sequence: Sequence;
  readonly kind: EffectKind;
  /** What a repeat of it would do; of a tool call its own, of anything else `once`. */
  readonly effect: SideEffect;
}

export interface TurnFacts {
  readonly message_sequence: Sequence;
  readonly started_sequence: Sequence;
  /** The loop's run: its `activation_started`, kept when it is over; null while the turn waits for its loop. */
  readonly activation: Sequence | null;
  /** Who stopped the turn; null while nobody did. */
  readonly cancel: CancelBy | null;
}

export interface SessionContext {
  readonly last_sequence: Sequence;
  readonly after_stop: AfterStop;
  readonly retain: Retain;
  /** How many messages the saved transcript has. */
  readonly transcript_length: number;
  readonly checkpoint: CheckpointPosition | null;
  /** The `message_queued` records that wait for their turn, first come first. */
  readonly queue: readonly Sequence[];
  /** The started effects without a terminal record, oldest first. A list: objects with numbers for keys are slow to copy. */
  readonly open: readonly OpenEffect[];
  /** The environments whose setup was started, by name. */
  readonly environments: Readonly<Record<string, EnvironmentFacts>>;
  readonly turn: TurnFacts | null;
  /** The end that was asked for and is not begun. */
  readonly end: EndMode | null;
}

export const NO_SESSION: SessionContext = {
  last_sequence: 0,
  after_stop: 'idle',
  retain: null,
  transcript_length: 0,
  checkpoint: null,
  queue: [],
  open: [],
  environments: {},
  turn: null,
  end: null,
};

/** The facts as they are saved. */
export type SavedContext = Omit<SessionContext, 'open'> & {
  readonly open: Readonly<Record<Sequence, EffectKind>>;
  /** The open tool calls that may be repeated without harm, and why. */
  readonly repeatable: Readonly<Record<Sequence, SideEffect>>;
};

export function savedContext(context: SessionContext): SavedContext {
  const repeatable = context.open.filter(({ effect }) => effect !== 'once');
  return {
    ...context,
    open: Object.fromEntries(context.open.map(({ sequence, kind }) => [sequence, kind])),
    repeatable: Object.fromEntries(repeatable.map(({ sequence, effect }) => [sequence, effect])),
  };
}

export function contextFrom({ open, repeatable, ...saved }: SavedContext): SessionContext {
  const effectOf = (sequence: Sequence): SideEffect => repeatable[sequence] ?? 'once';
  return { ...saved, open: Object.entries(open).map(([key, kind]) => ({ sequence: Number(key), kind, effect: effectOf(Number(key)) })) };
}

/** The kind of effect that a record type opens. */
const OPENS = {
  activation_started: 'activation',
  model_call_started: 'model_call',
  tool_call_started: 'tool_call',
  environment_setup_started: 'environment_setup',
  environment_detach_started: 'environment_detach',
  environment_teardown_started: 'environment_teardown',
} as const satisfies Partial<Record<RecordType, EffectKind>>;

/** The kind of effect that a record type closes. */
export const CLOSES = {
  activation_ended: 'activation',
  activation_failed: 'activation',
  model_call_ended: 'model_call',
  model_call_failed: 'model_call',
  tool_call_ended: 'tool_call',
  environment_setup_ended: 'environment_setup',
  environment_setup_failed: 'environment_setup',
  environment_detach_ended: 'environment_detach',
  environment_detach_failed: 'environment_detach',
  environment_teardown_ended: 'environment_teardown',
  environment_teardown_failed: 'environment_teardown',
} as const satisfies Partial<Record<RecordType, EffectKind>>;

/** Facts on their way from one record to the next: nobody else has them yet. */
type NextContext = { -readonly [Key in keyof SessionContext]: SessionContext[Key] };

/** The facts after a record. The chart has allowed it: nothing is checked here. */
export function contextAfter(before: SessionContext, record: NewRecord): SessionContext {
  const context = nextOf(before, record.sequence);
  switch (record.type) {
    case 'session_created':
      context.after_stop = record.data.after_stop;
      context.retain = record.data.retain;
      return context;
    case 'session_ready':
      context.checkpoint = checkpointAt(context);
      return context;
    case 'session_resumed':
      context.transcript_length = context.checkpoint?.transcript_length ?? 0;
      return context;
    case 'session_end_requested':
      context.end = record.data.mode;
      return context;
    case 'session_ending':
      context.end = null;
      return context;

    case 'message_queued':
      context.queue = [...context.queue, record.sequence];
      return context;
    case 'message_withdrawn':
    case 'message_failed':
      context.queue = context.queue.filter((waiting) => waiting !== record.data.message_sequence);
      return context;

    case 'turn_started': {
      const { message_sequence } = record.data;
      context.queue = context.queue.slice(1);
      context.turn = { message_sequence, started_sequence: record.sequence, activation: null, cancel: null };
      return context;
    }
    case 'turn_cancel_requested':
      context.turn = context.turn && { ...context.turn, cancel: record.data.by };
      return context;
    case 'turn_ended':
      context.turn = null;
      context.checkpoint = checkpointAt(context);
      return context;
    case 'turn_failed':
      context.turn = null;
      return context;

    case 'activation_started':
      context.turn = context.turn && { ...context.turn, activation: record.sequence };
      return opening(context, record);
    case 'model_call_started':
      return opening(context, record);
    case 'tool_call_started':
      return opening(context, record, record.data.effect);
    case 'environment_setup_started':
      return withStanding(opening(context, record), record.data.environment, { standing: 'setting_up', operation: record.sequence });
    case 'environment_detach_started':
      return withStanding(opening(context, record), record.data.environment, { standing: 'detached', operation: record.sequence });
    case 'environment_teardown_started':
      return withStanding(opening(context, record), record.data.environment, { standing: 'unknown', operation: record.sequence });

    case 'activation_ended':
    case 'activation_failed':
    case 'model_call_ended':
    case 'model_call_failed':
    case 'tool_call_ended':
    case 'environment_detach_ended':
    case 'environment_detach_failed':
    case 'environment_teardown_failed':
      return closing(context, record.data.started_sequence);
    case 'environment_setup_ended':
      return settling(context, record.data.started_sequence, 'attached');
    case 'environment_setup_failed':
      return settling(context, record.data.started_sequence, standingAfterFailedSetup(record.data.outcome));
    case 'environment_teardown_ended':
      return settling(context, record.data.started_sequence, 'absent');

    case 'transcript_delta':
      context.transcript_length = record.data.from + record.data.messages.length;
      return context;

    case 'session_failed':
    case 'session_metadata_changed':
    case 'session_suspended':
    case 'session_ended':
    case 'session_delete_requested':
    case 'extension_emitted':
    case 'kv_put':
    case 'kv_deleted':
    case 'request_answered':
      return context;
    default:
      return assertNever(record);
  }
}

/** Field by field: each record makes one, and to spread it would cost ten times as much. */
function nextOf(before: SessionContext, last_sequence: Sequence): NextContext {
  return {
    last_sequence,
    after_stop: before.after_stop,
    retain: before.retain,
    transcript_length: before.transcript_length,
    checkpoint: before.checkpoint,
    queue: before.queue,
    open: before.open,
    environments: before.environments,
    turn: before.turn,
    end: before.end,
  };
}

/** What kind of effect is open that was started by this record; undefined where none is. */
export function openKind({ open }: SessionContext, started: Sequence | null): EffectKind | undefined {
  return open.find(({ sequence }) => sequence === started)?.kind;
}

/** Undefined where its setup was never started. A name may be that of something which every object has. */
export function environmentIn({ environments }: SessionContext, name: string): EnvironmentFacts | undefined {
  return Object.hasOwn(environments, name) ? environments[name] : undefined;
}

/** The environments of which this is known. */
export function environmentsIn({ environments }: SessionContext, standings: readonly EnvironmentStanding[]): readonly string[] {
  return Object.entries(environments).flatMap(([name, { standing }]) => (standings.includes(standing) ? [name] : []));
}

function checkpointAt(context: SessionContext): CheckpointPosition {
  return { sequence: context.last_sequence, transcript_length: context.transcript_length };
}

interface Opening {
  readonly sequence: Sequence;
  readonly type: keyof typeof OPENS;
}

function opening(context: NextContext, { sequence, type }: Opening, effect: SideEffect = 'once'): NextContext {
  context.open = [...context.open, { sequence, kind: OPENS[type], effect }];
  return context;
}

function closing(context: NextContext, started: Sequence): NextContext {
  context.open = context.open.filter(({ sequence }) => sequence !== started);
  return context;
}

/** The environment's operation that began at `started` is over, and this is what is known since. */
function settling(context: NextContext, started: Sequence, standing: EnvironmentStanding): NextContext {
  const [name] = Object.entries(context.environments).find(([, { operation }]) => operation === started) ?? [];
  if (name !== undefined) withStanding(context, name, { standing, operation: started });
  return closing(context, started);
}

/** Only an environment that said no itself is known to have nothing of the session. */
function standingAfterFailedSetup(outcome: EffectOutcome): EnvironmentStanding {
  return outcome === 'failed' ? 'absent' : 'unknown';
}

function withStanding(context: NextContext, name: string, facts: EnvironmentFacts): NextContext {
  context.environments = { ...context.environments, [name]: facts };
  return context;
}
