/**
 * Decide: what a command becomes where the session stands. Records, nothing (it is so already), or a refusal. Pure: the
 * draft is a dry run on the chart, and what a deployment can change comes in as `rules`.
 */
import { assertNever } from './assert-never.ts';
import type { SessionSnapshot } from './chart-step.ts';
import { closeTurn, endIfDetached, endSession } from './close-turn.ts';
import type { Command, SessionCommand, TurnCommand } from './commands.ts';
import { Draft, RefusedByChart, type DecidedRecord } from './dry-run.ts';
import type { KeyedRequest, Metadata } from './records.ts';
import { environmentsIn, openKind } from './session-context.ts';
import { sameValue } from './value-equality.ts';
import type { KeyValues } from './projections/key-values.ts';
import type { ChartState } from './projections/status.ts';
import type { Transcript } from './projections/transcript.ts';

export type RefusalCode =
  | 'session_busy'
  | 'session_ending'
  | 'session_ended'
  | 'must_resume'
  | 'not_resumable'
  | 'must_end'
  | 'operation_over'
  | 'queue_full'
  | 'not_waiting'
  | 'metadata_full'
  | 'turn_cancelled'
  | 'turn_over'
  | 'effects_full';

export type Decision =
  | { readonly kind: 'records'; readonly records: readonly DecidedRecord[]; readonly snapshot: SessionSnapshot }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly state: ChartState };

/** What a deployment sets. */
export interface Rules {
  /** How many messages may wait beside the one that runs. */
  readonly queueMessagesMax: number;
}

/** The session as a command finds it: what is committed, and what was decided before it for the same commit. */
export interface Standing {
  readonly snapshot: SessionSnapshot;
  readonly transcript: Transcript;
  readonly keyValues: KeyValues;
  readonly metadata: Metadata;
  /** False where no actor was in memory before this command: an idle session then says first that it was suspended. */
  readonly wasResident: boolean;
}

// Metadata is a handful of labels to find sessions by, and every list answer carries it.
export const METADATA_PAIRS_MAX = 32;

// What is open is closed in one commit, which must fit into a frame whatever becomes of the turn; and closing one takes a
// look at all the others. This many are a fraction of a frame and of a second.
export const OPEN_EFFECTS_MAX = 1_000;

const NOTHING: Decision = { kind: 'nothing' };

/**
 * `request`: the keyed request that the command is. It is written into the first record that it causes; where it causes
 * none, into one that says that it was answered.
 */
export function decide(standing: Standing, command: Command, rules: Rules, request?: KeyedRequest): Decision {
  const draft = new Draft(standing.snapshot);
  if (!standing.wasResident && draft.state === 'idle') draft.add('session_suspended', {});
  const before = draft.records.length;
  try {
    const refusal =
      'message_sequence' in command
        ? decideForTurn(draft, standing, command)
        : decideForSession(draft, command, standing, rules);
    if (refusal !== null) return { kind: 'refused', code: refusal, state: draft.state };
  } catch (error) {
    // A turn's command can come late: its effect was closed, or the turn is being stopped. The chart's no is then the
    // answer. A session's command asks the chart first, so that the same error is a fault of ours.
    if (error instanceof RefusedByChart && 'message_sequence' in command) return refusedForTurn(draft);
    throw error;
  }
  if (draft.records.length === before && request === undefined) return NOTHING;
  if (draft.records.length === before) draft.add('request_answered', {});
  const records =
    request === undefined ? draft.records : draft.records.map((record, index) => (index === before ? { ...record, request } : record));
  return { kind: 'records', records, snapshot: draft.snapshot };
}

function decideForSession(draft: Draft, command: SessionCommand, standing: Standing, rules: Rules): RefusalCode | null {
  switch (command.kind) {
    case 'create': {
      draft.add('session_created', command.created);
      if (command.transcript.length > 0) draft.add('transcript_delta', { from: 0, messages: command.transcript });
      for (const { name, configuration } of command.created.environments) {
        draft.add('environment_setup_started', { environment: name, request: { type: 'setup', configuration } });
      }
      completeCreation(draft);
      return null;
    }
    case 'send':
      return decideSend(draft, command, rules);
    case 'withdraw': {
      const withdrawn = { message_sequence: command.waiting };
      if (!draft.accepts('message_withdrawn', withdrawn)) return 'not_waiting';
      draft.add('message_withdrawn', withdrawn);
      return null;
    }
    case 'cancel':
      return decideCancel(draft, command);
    case 'end':
      return decideEnd(draft, command);
    case 'resume':
      return decideResume(draft);
    case 'delete':
      if (!draft.accepts('session_delete_requested', {})) return isOver(draft.state) ? 'session_busy' : 'must_end';
      draft.add('session_delete_requested', {});
      for (const environment of environmentsIn(draft.context, ['attached', 'detached', 'unknown'])) {
        draft.add('environment_teardown_started', { environment, request: { type: 'teardown' } });
      }
      return null;
    case 'end_environment_operation':
      return decideEndOfOperation(draft, command);
    case 'change_metadata':
      return decideMetadata(draft, command, standing);
    case 'suspend':
      if (draft.accepts('session_suspended', {})) draft.add('session_suspended', {});
      return null;
    default:
      return assertNever(command);
  }
}

function decideSend(draft: Draft, command: SessionCommand & { kind: 'send' }, rules: Rules): RefusalCode | null {
  const { input, mode, key } = command;
  const refusal = refusalOfMessage(draft);
  if (refusal !== null) return refusal;
  const free = draft.state === 'idle' || draft.state === 'suspended';
  if (!free && mode !== 'queue') return 'session_busy';
  if (!free && draft.context.queue.length >= rules.queueMessagesMax) return 'queue_full';
  const message_sequence = draft.add('message_queued', key === undefined ? { input, mode } : { input, mode, key });
  if (free) draft.add('turn_started', { message_sequence });
  return null;
}

function refusalOfMessage(draft: Draft): RefusalCode | null {
  if (draft.context.end !== null) return 'session_ending';
  switch (draft.state) {
    case 'idle':
    case 'suspended':
    case 'running.working':
      return null;
    case 'none':
    case 'creating':
    case 'running.cancelling':
      return 'session_busy';
    case 'interrupted':
    case 'failed':
      return 'must_resume';
    case 'ending':
      return 'session_ending';
    case 'unusable':
    case 'ended':
      return 'session_ended';
    default:
      return assertNever(draft.state);
  }
}

function decideCancel(draft: Draft, command: SessionCommand & { kind: 'cancel' }): null {
  const turn = draft.context.turn;
  if (turn === null) return null;
  const record = { message_sequence: turn.message_sequence, by: command.by };
  if (draft.accepts('turn_cancel_requested', record)) draft.add('turn_cancel_requested', record);
  return null;
}

function decideEnd(draft: Draft, command: SessionCommand & { kind: 'end' }): null {
  switch (draft.state) {
    case 'idle':
    case 'suspended':
    case 'interrupted':
    case 'failed':
    case 'unusable':
      endSession(draft, { detaches: true });
      return null;
    case 'creating':
    case 'running.working':
    case 'running.cancelling':
      if (draft.accepts('session_end_requested', { mode: command.mode })) {
        draft.add('session_end_requested', { mode: command.mode });
        if (command.mode === 'interrupt') decideCancel(draft, { kind: 'cancel', by: 'close' });
      }
      return null;
    case 'none':
    case 'ending':
    case 'ended':
      return null;
    default:
      return assertNever(draft.state);
  }
}

/** Then only a teardown under way is in the way of a delete. */
function isOver(state: ChartState): boolean {
  return state === 'unusable' || state === 'ended';
}

function decideEndOfOperation(draft: Draft, command: SessionCommand & { kind: 'end_environment_operation' }): RefusalCode | null {
  const { started_sequence, result } = command;
  const kind = openKind(draft.context, started_sequence);
  if (kind !== 'environment_setup' && kind !== 'environment_detach' && kind !== 'environment_teardown') return 'operation_over';
  if (result.kind === 'done') draft.add(`${kind}_ended`, { started_sequence, receipt: result.receipt });
  else draft.add(`${kind}_failed`, { started_sequence, outcome: result.outcome, code: result.code, message: result.message });
  if (draft.state === 'creating') completeCreation(draft);
  if (draft.state === 'ending') endIfDetached(draft);
  return null;
}

/** A creation is over when nothing of it is open, and came to something where every environment is attached. */
function completeCreation(draft: Draft): void {
  if (draft.context.open.length > 0) return;
  const missing = environmentsIn(draft.context, ['absent', 'unknown']);
  const endAsked = draft.context.end !== null;
  if (missing.length === 0) draft.add('session_ready', {});
  else draft.add('session_failed', { code: 'environment_failed', message: `not set up: ${missing.join(', ')}` });
  if (endAsked) endSession(draft, { detaches: true });
}

function decideResume(draft: Draft): RefusalCode | null {
  if (draft.state === 'idle' || draft.state === 'suspended') return null;
  const checkpoint_sequence = draft.context.checkpoint?.sequence ?? 0;
  if (!draft.accepts('session_resumed', { checkpoint_sequence })) return 'not_resumable';
  draft.add('session_resumed', { checkpoint_sequence });
  return null;
}

function decideMetadata(
  draft: Draft,
  { changes }: SessionCommand & { kind: 'change_metadata' },
  standing: Standing,
): RefusalCode | null {
  const changed = Object.entries({ ...standing.metadata, ...changes }).filter(([, value]) => value !== null);
  const metadata = Object.fromEntries(changed) as Metadata;
  if (sameValue(metadata, standing.metadata)) return null;
  if (changed.length > METADATA_PAIRS_MAX) return 'metadata_full';
  if (!draft.accepts('session_metadata_changed', { metadata })) return 'session_ended';
  draft.add('session_metadata_changed', { metadata });
  return null;
}

function decideForTurn(draft: Draft, standing: Standing, command: TurnCommand): RefusalCode | null {
  const { message_sequence } = command;
  // Also what would change nothing is refused once its turn is closed: no late call may be told that all is well.
  if (draft.context.turn?.message_sequence !== message_sequence) return 'turn_over';
  switch (command.kind) {
    case 'start_activation':
      draft.add('activation_started', { message_sequence, agentloop: command.agentloop });
      return null;
    case 'start_model_call': {
      if (hasNoRoomFor(draft, 1)) return 'effects_full';
      const { provider, model, messages, difference } = command;
      const delta = standing.transcript.deltaTo(messages);
      draft.add('model_call_started', {
        message_sequence,
        provider,
        model,
        message_count: messages.length,
        context: {
          through_sequence: draft.context.last_sequence,
          delta: delta === null ? null : { from: delta.from, messages: delta.messages },
          ...difference,
        },
      });
      return null;
    }
    case 'end_model_call': {
      const { started_sequence, message, finish_reason, usage } = command;
      const data = { message_sequence, started_sequence, message, finish_reason };
      draft.add('model_call_ended', usage === undefined ? data : { ...data, usage });
      return null;
    }
    case 'fail_model_call': {
      const { started_sequence, outcome, code, message, usage } = command;
      const data = { message_sequence, started_sequence, outcome, code, message };
      draft.add('model_call_failed', usage === undefined ? data : { ...data, usage });
      return null;
    }
    case 'start_tool_calls':
      if (hasNoRoomFor(draft, command.calls.length)) return 'effects_full';
      for (const call of command.calls) draft.add('tool_call_started', { message_sequence, ...call });
      return null;
    case 'end_tool_call': {
      const { started_sequence, outcome, output } = command;
      draft.add('tool_call_ended', { message_sequence, started_sequence, outcome, output, is_error: outcome !== 'ok' });
      return null;
    }
    case 'emit':
      draft.add('extension_emitted', { message_sequence, origin: command.origin, name: command.name, data: command.data });
      return null;
    case 'set_transcript': {
      const delta = standing.transcript.deltaTo(command.messages);
      if (delta !== null) draft.add('transcript_delta', { message_sequence, ...delta });
      return null;
    }
    case 'put_kv':
      draft.add('kv_put', { message_sequence, key: command.key, value: command.value });
      return null;
    case 'delete_kv':
      if (standing.keyValues.read(command.key).found) draft.add('kv_deleted', { message_sequence, key: command.key });
      return null;
    case 'close_turn':
      closeTurn(draft, command.ending, command.open);
      return null;
    default:
      return assertNever(command);
  }
}

function hasNoRoomFor(draft: Draft, effects: number): boolean {
  return draft.context.open.length + effects > OPEN_EFFECTS_MAX;
}

function refusedForTurn(draft: Draft): Decision {
  const { state } = draft;
  return { kind: 'refused', code: state === 'running.cancelling' ? 'turn_cancelled' : 'turn_over', state };
}
