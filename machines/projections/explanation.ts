/**
 * Why a session stands where it stands, in one sentence: what a running turn waits for, what stopped the last one, or which
 * environments it is set up in, detached from or torn down in.
 * Made of the state and of the few records that the state names, so that a server and whoever looks at a copy of the
 * journal say the same. It tells times and not durations: the same moment of a journal always reads the same.
 */
import type { CancelBy, Sequence, SessionRecord } from '../records.ts';
import { environmentsIn, type EffectKind, type OpenEffect, type SessionContext } from '../session-context.ts';
import { utcTime } from '../utc-time.ts';
import type { ChartState } from './status.ts';

const STOPPED_BY: Readonly<Record<CancelBy, string>> = {
  caller: 'which its caller cancelled',
  deadline: 'which reached its wall time',
  close: 'since the session is being closed',
  shutdown: 'since the server is shutting down',
};

const SHOWN_EFFECTS_MAX = 3;

export interface Explained {
  readonly state: ChartState;
  readonly context: SessionContext;
  /** The `turn_failed` or `session_failed` after which nothing ran; null where there is none. */
  readonly stop: Sequence | null;
}

/** The records that `explanationOf` needs, by sequence. */
export function explainedBy({ context, stop }: Explained): readonly Sequence[] {
  const effects = openEffects(context).slice(0, SHOWN_EFFECTS_MAX).map(({ sequence }) => sequence);
  const { turn } = context;
  return [...effects, ...(turn === null ? [] : [turn.activation ?? turn.started_sequence]), ...(stop === null ? [] : [stop])];
}

/** Null where there is nothing to explain: a session at rest that takes messages, one that ended and left nothing behind. */
export function explanationOf(explained: Explained, recordAt: (sequence: Sequence) => SessionRecord | undefined): string | null {
  const { state, context, stop } = explained;
  switch (state) {
    case 'none':
    case 'idle':
    case 'suspended':
      return null;
    case 'creating':
      return sentence('is being created', waitsFor(context, recordAt), context.end === null ? null : 'it ends after that');
    case 'running.working':
      return sentence(whyRunning(context, recordAt), endToCome(context));
    case 'running.cancelling':
      return sentence(`is stopping its turn, ${STOPPED_BY[context.turn?.cancel ?? 'caller']}`, waitsFor(context, recordAt));
    case 'interrupted':
    case 'failed':
      return sentence(whyStopped(stop, recordAt), 'it takes messages again once it is resumed');
    case 'unusable':
      return (
        whileTornDown(context, recordAt) ??
        sentence(whyStopped(stop, recordAt), 'it cannot be resumed: it can only be ended or deleted', leftBehind(context))
      );
    case 'ending':
      return sentence('is ending', waitsFor(context, recordAt));
    case 'ended': {
      const left = leftBehind(context);
      return whileTornDown(context, recordAt) ?? (left === null ? null : sentence('has ended', left));
    }
  }
}

type RecordAt = (sequence: Sequence) => SessionRecord | undefined;

function whyRunning(context: SessionContext, recordAt: RecordAt): string {
  const effects = waitsFor(context, recordAt);
  if (effects !== null) return effects;
  const since = sinceOf(context.turn?.activation ?? context.turn?.started_sequence, recordAt);
  if (context.turn?.activation === null) return `waits for a free slot to run its turn${since}`;
  return `runs its agent loop${since}, and no model or tool is called`;
}

function waitsFor(context: SessionContext, recordAt: RecordAt): string | null {
  const effects = openEffects(context);
  if (effects.length === 0) return null;
  const shown = effects.slice(0, SHOWN_EFFECTS_MAX).map(({ sequence, kind }) => effectNamed(sequence, kind, recordAt));
  const more = effects.length - shown.length;
  return `waits for ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What is open but the loop itself, oldest first. */
function openEffects({ open }: SessionContext): readonly OpenEffect[] {
  return open.filter(({ kind }) => kind !== 'activation');
}

function effectNamed(sequence: Sequence, kind: EffectKind, recordAt: RecordAt): string {
  const record = recordAt(sequence);
  const since = sinceOf(sequence, recordAt);
  switch (record?.type) {
    case 'model_call_started':
      return `the model ${record.data.provider}/${record.data.model}${since}`;
    case 'tool_call_started': {
      const { tool, deadline } = record.data;
      return `the tool ${tool}${since}${deadline === null ? ', without a deadline' : `, at most until ${utcTime(deadline)}`}`;
    }
    case 'environment_setup_started':
    case 'environment_detach_started':
    case 'environment_teardown_started':
      return `the ${record.type.split('_')[1] ?? ''} of the environment ${record.data.environment}${since}`;
    default:
      return `the ${kind.replaceAll('_', ' ')} of record ${sequence}`;
  }
}

function whyStopped(stop: Sequence | null, recordAt: RecordAt): string {
  const record = stop === null ? undefined : recordAt(stop);
  switch (record?.type) {
    case 'turn_failed':
      return `stopped at ${utcTime(record.recorded_at)} with its turn, ${record.data.code}: ${record.data.message}`;
    case 'session_failed':
      return `failed at ${utcTime(record.recorded_at)} while it was created, ${record.data.code}: ${record.data.message}`;
    default:
      return 'is to be deleted';
  }
}

/** Where a session is over, nothing but teardowns is open. */
function whileTornDown(context: SessionContext, recordAt: RecordAt): string | null {
  const teardowns = waitsFor(context, recordAt);
  return teardowns === null ? null : sentence('is being deleted', teardowns);
}

/** What a setup or a teardown that came to no known end may have left. */
function leftBehind(context: SessionContext): string | null {
  const names = environmentsIn(context, ['unknown']);
  if (names.length === 0) return null;
  const shown = names.slice(0, SHOWN_EFFECTS_MAX).join(', ');
  const more = names.length - SHOWN_EFFECTS_MAX;
  const all = `${names.length === 1 ? 'environment' : 'environments'} ${shown}${more > 0 ? ` and ${more} more` : ''}`;
  return `the ${all} may still be there, until a delete tears ${names.length === 1 ? 'it' : 'them'} down`;
}

function endToCome({ end }: SessionContext): string | null {
  return end === null ? null : 'it ends when its turn is over';
}

function sinceOf(sequence: Sequence | undefined, recordAt: RecordAt): string {
  const record = sequence === undefined ? undefined : recordAt(sequence);
  return record === undefined ? '' : ` since ${utcTime(record.recorded_at)}`;
}

function sentence(first: string, ...more: readonly (string | null)[]): string {
  return `The session ${[first, ...more].filter((part) => part !== null).join('; ')}.`;
}
