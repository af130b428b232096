/**
 * What the session's chart and the turn's chart share: the events (journal records), the guards by name, and the one
 * action. The charts hold no invoke, no timer and no promise: they say what may happen, and the services make it happen.
 *
 * A guard asks only what the journal itself says. What a deployment can change (limits, the queue's length) is asked by
 * decide, since a journal written under other settings must replay.
 */
import { assign, setup } from 'xstate';
import type { CancelBy, NewRecord, TurnFailureCode } from './records.ts';
import { CLOSES, contextAfter, environmentIn, NO_SESSION, openKind, type SessionContext } from './session-context.ts';

interface GuardArguments {
  readonly context: SessionContext;
  readonly event: NewRecord;
}

/** The code that a stopped turn fails with, by who stopped it. */
export const CODE_OF_CANCEL: Readonly<Record<CancelBy, TurnFailureCode>> = {
  caller: 'cancelled',
  deadline: 'turn_timeout',
  close: 'closed',
  shutdown: 'shutdown',
};

const CANCEL_CODES: ReadonlySet<TurnFailureCode> = new Set(Object.values(CODE_OF_CANCEL));

const nothingOpen = ({ context }: GuardArguments): boolean => context.open.length === 0;
const queueEmpty = ({ context }: GuardArguments): boolean => context.queue.length === 0;
const noEndAsked = ({ context }: GuardArguments): boolean => context.end === null;

function ofTurn({ context, event }: GuardArguments): boolean {
  return (
    context.turn !== null &&
    'message_sequence' in event.data &&
    event.data.message_sequence === context.turn.message_sequence
  );
}

function inQueue({ context, event }: GuardArguments): boolean {
  if (event.type !== 'message_withdrawn' && event.type !== 'message_failed') return false;
  return context.queue.includes(event.data.message_sequence);
}

function activationOpen(args: GuardArguments): boolean {
  const activation = args.context.turn?.activation ?? null;
  return ofTurn(args) && openKind(args.context, activation) === 'activation';
}

function closesOpenEffect({ context, event }: GuardArguments): boolean {
  if (!('started_sequence' in event.data) || !(event.type in CLOSES)) return false;
  return openKind(context, event.data.started_sequence) === CLOSES[event.type as keyof typeof CLOSES];
}

/** An end is asked once; one that waits may be followed by one that interrupts. */
function endMayBeAsked({ context, event }: GuardArguments): boolean {
  if (event.type !== 'session_end_requested') return false;
  return context.end === null || (context.end === 'wait' && event.data.mode === 'interrupt');
}

/** A delta keeps what it says it keeps, and replaces what stands after that. */
function deltaFits({ context, event }: GuardArguments): boolean {
  if (event.type !== 'transcript_delta') return false;
  const { from, replaces } = event.data;
  if (!Number.isInteger(from) || from < 0 || (replaces !== undefined && !(replaces > 0))) return false;
  return from + (replaces ?? 0) === context.transcript_length;
}

/** The submitting execution is still running. Events of old journals have no origin. */
function originOpen({ context, event }: GuardArguments): boolean {
  if (event.type !== 'extension_emitted') return false;
  const { origin } = event.data;
  if (origin === undefined) return true;
  return openKind(context, origin.sequence) === (origin.kind === 'tool' ? 'tool_call' : 'activation');
}

/** The first cancel counts, but a caller's still decides over a deadline's or a shutdown's. */
function callerOverrules({ context, event }: GuardArguments): boolean {
  if (event.type !== 'turn_cancel_requested' || event.data.by !== 'caller') return false;
  return context.turn?.cancel === 'deadline' || context.turn?.cancel === 'shutdown';
}

/** Each environment of a session is set up once, by its creation. */
function notSetUpYet({ context, event }: GuardArguments): boolean {
  return event.type === 'environment_setup_started' && environmentIn(context, event.data.environment) === undefined;
}

/** It was set up, and nobody has told it to detach. */
function attached({ context, event }: GuardArguments): boolean {
  return event.type === 'environment_detach_started' && environmentIn(context, event.data.environment)?.standing === 'attached';
}

/** Something of it is, or may be, there, and nothing is under way on it. */
function mayBeThere({ context, event }: GuardArguments): boolean {
  if (event.type !== 'environment_teardown_started') return false;
  const facts = environmentIn(context, event.data.environment);
  return facts !== undefined && facts.standing !== 'absent' && openKind(context, facts.operation) === undefined;
}

function turnMayEnd({ context, event }: GuardArguments): boolean {
  if (event.type !== 'turn_ended' || context.turn === null) return false;
  const endAsked = context.end !== null;
  return (
    context.turn.activation !== null &&
    event.data.next === (context.queue[0] ?? null) &&
    event.data.end === endAsked &&
    (!endAsked || context.queue.length === 0)
  );
}

function turnMayFail({ context, event }: GuardArguments): boolean {
  if (event.type !== 'turn_failed' || context.turn === null) return false;
  const { cancel } = context.turn;
  return (
    context.queue.length === 0 &&
    event.data.end === (context.end !== null) &&
    (cancel === null ? !CANCEL_CODES.has(event.data.code) : event.data.code === CODE_OF_CANCEL[cancel])
  );
}

export const chartSetup = setup({
  types: {
    context: {} as SessionContext,
    events: {} as NewRecord,
  },
  guards: {
    firstRecord: ({ event }) => event.sequence === 1,
    nothingOpen,
    notSetUpYet,
    attached,
    mayBeThere,
    allAttached: ({ context }) => Object.values(context.environments).every(({ standing }) => standing === 'attached'),
    queueEmpty,
    noEndAsked,
    queueEmptyAndNoEndAsked: (args) => queueEmpty(args) && noEndAsked(args),
    headOfQueue: ({ context, event }) =>
      context.end === null && event.type === 'turn_started' && context.queue[0] === event.data.message_sequence,
    inQueue,
    ofTurn,
    noActivationYet: (args) => ofTurn(args) && args.context.turn?.activation === null,
    activationOpen,
    closesOpenEffect,
    closesOpenEffectOfTurn: (args) => ofTurn(args) && closesOpenEffect(args),
    endMayBeAsked,
    deltaFits,
    deltaOfTurnFits: (args) => activationOpen(args) && deltaFits(args),
    originOpen: (args) => ofTurn(args) && originOpen(args),
    callerOverrules: (args) => ofTurn(args) && callerOverrules(args),
    turnMayEnd: (args) => ofTurn(args) && nothingOpen(args) && turnMayEnd(args),
    turnMayFail: (args) => ofTurn(args) && nothingOpen(args) && turnMayFail(args),
    retained: ({ context }) => context.retain !== null,
    held: ({ context }) => context.after_stop === 'hold',
    heldAndCancelled: ({ context, event }) =>
      context.after_stop === 'hold' && event.type === 'turn_failed' && event.data.code === 'cancelled',
    atCheckpoint: ({ context, event }) =>
      event.type === 'session_resumed' && event.data.checkpoint_sequence === context.checkpoint?.sequence,
  },
  actions: {
    /** On every transition: a record that moves nothing must still be one that the chart accepts. */
    evolve: assign(({ context, event }) => contextAfter(context, event)),
  },
});

export const CONTEXT_AT_START = NO_SESSION;
