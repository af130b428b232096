/**
 * The session's chart: what may happen to a session, and in which state. Its events are the journal's records; a record
 * that it does not accept where it stands never becomes durable, and in a replay means a damaged journal.
 *
 *   C1. One turn at a time: `turn_started` is accepted only outside of `running`, and only for the head of the queue.
 *   C2. A message leaves the queue by its turn's start, a withdrawal or a conflict, and by nothing else.
 *   C3. An effect is closed exactly once, by a record that names its start.
 *   C4. Suspended is a session's rest: `idle` is where its actor is retained meanwhile.
 *   C5. Nothing leads out of `ended`.
 *   C6. An environment is set up by the creation alone, detached by the end alone, and torn down where a delete was asked for.
 *   C7. An end that is asked while a delete tears environments down begins at once, and is over when they are.
 */
import { and } from 'xstate';
import { chartSetup, CONTEXT_AT_START } from './chart-setup.ts';
import { turnChart } from './turn-chart.ts';

const ALWAYS = {
  session_metadata_changed: { actions: 'evolve' },
  request_answered: { actions: 'evolve' },
} as const;

const AT_REST = {
  message_queued: { guard: 'queueEmptyAndNoEndAsked', actions: 'evolve' },
  turn_started: { guard: 'headOfQueue', target: 'running', actions: 'evolve' },
  session_ending: { guard: 'queueEmpty', target: 'ending', actions: 'evolve' },
} as const;

const STOPPED = {
  session_resumed: [
    { guard: and(['atCheckpoint', 'retained']), target: 'idle', actions: 'evolve' },
    { guard: 'atCheckpoint', target: 'suspended', actions: 'evolve' },
  ],
  session_ending: { guard: 'nothingOpen', target: 'ending', actions: 'evolve' },
} as const;

const TEARDOWN_OVER = {
  environment_teardown_ended: { guard: 'closesOpenEffect', actions: 'evolve' },
  environment_teardown_failed: { guard: 'closesOpenEffect', actions: 'evolve' },
} as const;

const OVER = {
  session_delete_requested: { guard: 'nothingOpen', actions: 'evolve' },
  environment_teardown_started: { guard: 'mayBeThere', actions: 'evolve' },
  ...TEARDOWN_OVER,
} as const;

export const sessionChart = chartSetup.createMachine({
  id: 'session',
  context: CONTEXT_AT_START,
  initial: 'none',
  states: {
    none: {
      on: { session_created: { guard: 'firstRecord', target: 'creating', actions: 'evolve' } },
    },
    creating: {
      on: {
        ...ALWAYS,
        environment_setup_started: { guard: 'notSetUpYet', actions: 'evolve' },
        environment_setup_ended: { guard: 'closesOpenEffect', actions: 'evolve' },
        environment_setup_failed: { guard: 'closesOpenEffect', actions: 'evolve' },
        transcript_delta: { guard: 'deltaFits', actions: 'evolve' },
        session_end_requested: { guard: 'endMayBeAsked', actions: 'evolve' },
        session_ready: [
          { guard: and(['nothingOpen', 'allAttached', 'retained']), target: 'idle', actions: 'evolve' },
          { guard: and(['nothingOpen', 'allAttached']), target: 'suspended', actions: 'evolve' },
        ],
        session_failed: { guard: 'nothingOpen', target: 'unusable', actions: 'evolve' },
      },
    },
    idle: {
      on: {
        ...ALWAYS,
        ...AT_REST,
        session_suspended: { guard: 'queueEmpty', target: 'suspended', actions: 'evolve' },
      },
    },
    suspended: {
      on: { ...ALWAYS, ...AT_REST },
    },
    running: {
      ...turnChart,
      on: { ...turnChart.on, ...ALWAYS },
    },
    interrupted: {
      on: { ...ALWAYS, ...STOPPED },
    },
    failed: {
      on: {
        ...ALWAYS,
        ...STOPPED,
        session_delete_requested: { target: 'unusable', actions: 'evolve' },
      },
    },
    unusable: {
      on: { ...ALWAYS, ...OVER, session_ending: { target: 'ending', actions: 'evolve' } },
    },
    ending: {
      on: {
        ...ALWAYS,
        environment_detach_started: { guard: 'attached', actions: 'evolve' },
        environment_detach_ended: { guard: 'closesOpenEffect', actions: 'evolve' },
        environment_detach_failed: { guard: 'closesOpenEffect', actions: 'evolve' },
        ...TEARDOWN_OVER,
        session_ended: { guard: 'nothingOpen', target: 'ended', actions: 'evolve' },
      },
    },
    ended: {
      on: { request_answered: ALWAYS.request_answered, ...OVER },
    },
  },
});
