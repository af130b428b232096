/**
 * The one commit that closes a turn, live and in recovery. Its order: the terminal record of each open effect, the
 * activation's, the conflict of each waiting message, the turn's own, and the end where one was asked for.
 */
import type { ToolOutcome } from './messages.ts';
import type { ActivationResult, EffectOutcome, Sequence, TurnFailureCode } from './records.ts';
import type { Draft } from './dry-run.ts';
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
  for (const [key, kind] of Object.entries(draft.context.open)) {
    const started_sequence: Sequence = Number(key);
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
          output: TOOL_OUTPUT_OF[outcome],
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
  if (activation !== null && draft.context.open[activation] !== undefined) {
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
  if (end) endSession(draft, message_sequence);
}

/** Ending and ended in one commit: nothing is attached that would have to be detached in between. */
export function endSession(draft: Draft, closedTurn?: Sequence): void {
  draft.add('session_ending', closedTurn === undefined ? {} : { message_sequence: closedTurn });
  draft.add('session_ended', {});
}

function failWaitingMessages(draft: Draft): void {
  for (const message_sequence of draft.context.queue) draft.add('message_failed', { message_sequence, code: 'conflict' });
}

function failureOf(code: TurnFailureCode): TurnEnding & { readonly kind: 'failed' } {
  return { kind: 'failed', code, message: MESSAGE_OF_CANCEL[code] ?? code };
}
