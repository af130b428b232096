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
  /** The started effects without a terminal record, by sequence. */
  readonly open: Readonly<Record<Sequence, EffectKind>>;
  /** The open tool calls that may be repeated without harm, by sequence, and why. */
  readonly repeatable: Readonly<Record<Sequence, Exclude<SideEffect, 'once'>>>;
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
  open: {},
  repeatable: {},
  environments: {},
  turn: null,
  end: null,
};

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

/** The facts after a record. The chart has allowed it: nothing is checked here. */
export function contextAfter(before: SessionContext, record: NewRecord): SessionContext {
  const context: SessionContext = { ...before, last_sequence: record.sequence };
  switch (record.type) {
    case 'session_created':
      return { ...context, after_stop: record.data.after_stop, retain: record.data.retain };
    case 'session_ready':
      return { ...context, checkpoint: checkpointAt(context) };
    case 'session_resumed':
      return { ...context, transcript_length: context.checkpoint?.transcript_length ?? 0 };
    case 'session_end_requested':
      return { ...context, end: record.data.mode };
    case 'session_ending':
      return { ...context, end: null };

    case 'message_queued':
      return { ...context, queue: [...context.queue, record.sequence] };
    case 'message_withdrawn':
    case 'message_failed':
      return { ...context, queue: context.queue.filter((waiting) => waiting !== record.data.message_sequence) };

    case 'turn_started': {
      const { message_sequence } = record.data;
      const turn = { message_sequence, started_sequence: record.sequence, activation: null, cancel: null };
      return { ...context, queue: context.queue.slice(1), turn };
    }
    case 'turn_cancel_requested':
      return { ...context, turn: context.turn && { ...context.turn, cancel: record.data.by } };
    case 'turn_ended':
      return { ...context, turn: null, checkpoint: checkpointAt(context) };
    case 'turn_failed':
      return { ...context, turn: null };

    case 'activation_started':
      return { ...opening(context, record), turn: context.turn && { ...context.turn, activation: record.sequence } };
    case 'model_call_started':
      return opening(context, record);
    case 'tool_call_started': {
      const { effect } = record.data;
      const { repeatable } = context;
      return { ...opening(context, record), repeatable: effect === 'once' ? repeatable : { ...repeatable, [record.sequence]: effect } };
    }
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
    case 'environment_detach_ended':
    case 'environment_detach_failed':
    case 'environment_teardown_failed':
      return closing(context, record.data.started_sequence);
    case 'tool_call_ended': {
      const { started_sequence } = record.data;
      return { ...closing(context, started_sequence), repeatable: without(context.repeatable, started_sequence) };
    }
    case 'environment_setup_ended':
      return settling(context, record.data.started_sequence, 'attached');
    case 'environment_setup_failed':
      return settling(context, record.data.started_sequence, standingAfterFailedSetup(record.data.outcome));
    case 'environment_teardown_ended':
      return settling(context, record.data.started_sequence, 'absent');

    case 'transcript_delta':
      return { ...context, transcript_length: record.data.from + record.data.messages.length };

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

function opening(context: SessionContext, { sequence, type }: { readonly sequence: Sequence; readonly type: keyof typeof OPENS }): SessionContext {
  return { ...context, open: { ...context.open, [sequence]: OPENS[type] } };
}

function closing(context: SessionContext, started: Sequence): SessionContext {
  return { ...context, open: without(context.open, started) };
}

/** The environment's operation that began at `started` is over, and this is what is known since. */
function settling(context: SessionContext, started: Sequence, standing: EnvironmentStanding): SessionContext {
  const [name] = Object.entries(context.environments).find(([, { operation }]) => operation === started) ?? [];
  const closed = closing(context, started);
  return name === undefined ? closed : withStanding(closed, name, { standing, operation: started });
}

/** Only an environment that said no itself is known to have nothing of the session. */
function standingAfterFailedSetup(outcome: EffectOutcome): EnvironmentStanding {
  return outcome === 'failed' ? 'absent' : 'unknown';
}

function withStanding(context: SessionContext, name: string, facts: EnvironmentFacts): SessionContext {
  return { ...context, environments: { ...context.environments, [name]: facts } };
}

function without<T>(bySequence: Readonly<Record<Sequence, T>>, closed: Sequence): Readonly<Record<Sequence, T>> {
  if (!(closed in bySequence)) return bySequence;
  const { [closed]: _, ...rest } = bySequence;
  return rest;
}
