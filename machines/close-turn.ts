/**
 * The one commit that closes a turn, live and in recovery. Its order: the terminal record of each open effect, the
 * activation's, the conflict of each waiting message, the turn's own, and the end where one was asked for.
 */
import type { ToolOutcome } from './messages.ts';
import type { ActivationResult, EffectOutcome, Sequence, SideEffect, TurnFailureCode } from './records.ts';
import type { Draft } from './dry-run.ts';
import { environmentsIn, openKind } from './session-context.ts';
import { CODE_OF_CANCEL } from './chart-setup.ts';

export type TurnEnding =
  | { readonly kind: 'returned'; readonly result?: ActivationResult }
  | { readonly kind: 'failed'; readonly code: TurnFailureCode; readonly message: string };

/** What an unfinished effect is told to be: known to be stopped, or not known at all. */
export type OpenOutcome = Extract<EffectOutcome, 'cancelled' | 'unknown'>;

/** What a model is told of a call that did not return, in its transcript. None of these says that nothing happened. */
export const TOOL_OUTPUT_OF: Readonly<Record<Exclude<ToolOutcome, 'ok' | 'error'>, string>> = {
  unknown:
    'The result of this call is unknown: it may or may not have taken effect. Check what happened before calling again.',
  cancelled: 'This call was cancelled. Whatever it had already done is not undone.',
  timeout: 'This call did not finish by its deadline. Whatever it had already done is not undone.',
};

/** What a model is told of a call whose result is unknown, where a repeat of it does no harm. */
const UNKNOWN_OUTPUT_OF: Readonly<Record<SideEffect, string>> = {
  once: TOOL_OUTPUT_OF.unknown,
  idempotent: `${TOOL_OUTPUT_OF.unknown} This tool is idempotent: the same call again does nothing a second time.`,
  read: 'The result of this call is unknown. This tool only reads: nothing was changed, and the call may be made again.',
};

/** What a model is told of a call that did not return, by what a repeat of it would do. */
export function toolOutputOf(outcome: keyof typeof TOOL_OUTPUT_OF, effect: SideEffect): string {
  return outcome === 'unknown' ? UNKNOWN_OUTPUT_OF[effect] : TOOL_OUTPUT_OF[outcome];
}

const MESSAGE_OF_OPEN: Readonly<Record<OpenOutcome, string>> = {
  cancelled: 'the call was cancelled',
  unknown: 'the call may have been carried out; no answer to it was recorded',
};

const MESSAGE_OF_CANCEL: Readonly<Record<string, string>> = {
  cancelled: 'the turn was cancelled',
  turn_timeout: 'the turn reached its wall time',
  closed: 'the session was closed',
  shutdown: 'the server was shut down',
};

/** Closes every open effect but the activation, oldest first. */
export function closeOpenEffects(draft: Draft, outcome: OpenOutcome): void {
  const message_sequence = draft.context.turn?.message_sequence ?? 0;
  for (const { sequence: started_sequence, kind, effect } of draft.context.open) {
    const failure = { started_sequence, outcome, code: outcome, message: MESSAGE_OF_OPEN[outcome] };
    switch (kind) {
      case 'activation':
        break;
      case 'model_call':
        draft.add('model_call_failed', { message_sequence, ...failure });
        break;
      case 'tool_call':
        draft.add('tool_call_ended', {
          message_sequence,
          started_sequence,
          outcome,
          output: toolOutputOf(outcome, effect),
          is_error: true,
        });
        break;
      case 'environment_setup':
        draft.add('environment_setup_failed', failure);
        break;
      case 'environment_detach':
        draft.add('environment_detach_failed', failure);
        break;
      case 'environment_teardown':
        draft.add('environment_teardown_failed', failure);
        break;
    }
  }
}

/** Adds the records that close the running turn. A cancel that was recorded decides how it failed. */
export function closeTurn(draft: Draft, asked: TurnEnding, openOutcome: OpenOutcome): void {
  const turn = draft.context.turn;
  if (turn === null) throw new Error('no turn is running');
  const { message_sequence, activation, cancel } = turn;
  const ending = cancel === null ? asked : failureOf(CODE_OF_CANCEL[cancel]);
  const end = draft.context.end !== null;

  closeOpenEffects(draft, openOutcome);
  if (activation !== null && openKind(draft.context, activation) !== undefined) {
    const of = { message_sequence, started_sequence: activation };
    if (ending.kind === 'failed') draft.add('activation_failed', { ...of, code: ending.code, message: ending.message });
    else draft.add('activation_ended', ending.result === undefined ? of : { ...of, result: ending.result });
  }
  if (ending.kind === 'failed' || end) failWaitingMessages(draft);
  if (ending.kind === 'failed') {
    draft.add('turn_failed', { message_sequence, code: ending.code, message: ending.message, end });
  } else {
    const next = draft.context.queue[0] ?? null;
    draft.add('turn_ended', { message_sequence, next, end });
    if (next !== null) draft.add('turn_started', { message_sequence: next });
  }
  if (end) endSession(draft, { detaches: openOutcome === 'cancelled', closedTurn: message_sequence });
}

/**
 * The end begins, and with it the detaching of each environment. Where there is nothing to detach, or where it is recovery
 * that ends the session and sends nothing, it is over in the same commit.
 */
export function endSession(draft: Draft, { detaches, closedTurn }: { readonly detaches: boolean; readonly closedTurn?: Sequence }): void {
  draft.add('session_ending', closedTurn === undefined ? {} : { message_sequence: closedTurn });
  if (detaches) {
    for (const environment of environmentsIn(draft.context, ['attached'])) {
      draft.add('environment_detach_started', { environment, request: { type: 'detach' } });
    }
  }
  endIfDetached(draft);
}

/** An end is over when nothing of it is open. */
export function endIfDetached(draft: Draft): void {
  if (draft.context.open.length === 0) draft.add('session_ended', {});
}

function failWaitingMessages(draft: Draft): void {
  for (const message_sequence of draft.context.queue) draft.add('message_failed', { message_sequence, code: 'conflict' });
}

function failureOf(code: TurnFailureCode): TurnEnding & { readonly kind: 'failed' } {
  return { kind: 'failed', code, message: MESSAGE_OF_CANCEL[code] ?? code };
}
