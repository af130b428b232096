/**
 * The turn's chart: from a message's `turn_started` to `turn_ended` or `turn_failed`. It is mounted in the session's
 * chart as its state `running`, not run as a child actor: what a child refuses would still move its parent.
 *
 *   T1. Effects start only while the turn is `working`. Once it is `cancelling`, what is open may only be closed.
 *   T2. A turn closes only when no effect is open, and a stopped one only when no message waits.
 *   T3. A turn whose cancel was recorded first fails, even if its loop returns.
 */
import { and } from 'xstate';
import { chartSetup } from './chart-setup.ts';

export const turnChart = chartSetup.createStateConfig({
  initial: 'working',
  on: {
    message_withdrawn: { guard: 'inQueue', actions: 'evolve' },
    message_failed: { guard: 'inQueue', actions: 'evolve' },
    session_end_requested: { guard: 'endMayBeAsked', actions: 'evolve' },

    activation_ended: { guard: 'closesOpenEffectOfTurn', actions: 'evolve' },
    activation_failed: { guard: 'closesOpenEffectOfTurn', actions: 'evolve' },
    model_call_ended: { guard: 'closesOpenEffectOfTurn', actions: 'evolve' },
    model_call_failed: { guard: 'closesOpenEffectOfTurn', actions: 'evolve' },
    tool_call_ended: { guard: 'closesOpenEffectOfTurn', actions: 'evolve' },

    extension_emitted: { guard: 'originOpen', actions: 'evolve' },
    transcript_delta: { guard: 'deltaOfTurnFits', actions: 'evolve' },
    kv_put: { guard: 'activationOpen', actions: 'evolve' },
    kv_deleted: { guard: 'activationOpen', actions: 'evolve' },

    turn_failed: [
      { guard: and(['turnMayFail', 'heldAndCancelled']), target: '#session.interrupted', actions: 'evolve' },
      { guard: and(['turnMayFail', 'held']), target: '#session.failed', actions: 'evolve' },
      { guard: and(['turnMayFail', 'retained']), target: '#session.idle', actions: 'evolve' },
      { guard: 'turnMayFail', target: '#session.suspended', actions: 'evolve' },
    ],
  },
  states: {
    working: {
      on: {
        message_queued: { guard: 'noEndAsked', actions: 'evolve' },
        activation_started: { guard: 'noActivationYet', actions: 'evolve' },
        model_call_started: { guard: 'activationOpen', actions: 'evolve' },
        tool_call_started: { guard: 'activationOpen', actions: 'evolve' },
        turn_cancel_requested: { guard: 'ofTurn', target: 'cancelling', actions: 'evolve' },
        turn_ended: [
          { guard: and(['turnMayEnd', 'retained']), target: '#session.idle', actions: 'evolve' },
          { guard: 'turnMayEnd', target: '#session.suspended', actions: 'evolve' },
        ],
      },
    },
    cancelling: {
      on: {
        turn_cancel_requested: { guard: 'callerOverrules', actions: 'evolve' },
      },
    },
  },
});
