/** Ways in which a record of each type can be written where a session stands: fitting ones, strange ones, stale ones. */
import type { EnvironmentRequest, RecordData, RecordType, Sequence } from '../../machines/records.ts';
import type { EffectKind, SessionContext } from '../../machines/session-context.ts';
import { CREATED } from '../support/session-story.ts';

type Variants = { readonly [T in RecordType]: (context: SessionContext) => readonly RecordData[T][] };

/** A sequence at which no record is that anything could mean. */
export const NOWHERE: Sequence = 999;

/** The messages that a record could name: the running turn's, the waiting ones, and one that is not there. */
function messages(context: SessionContext): readonly Sequence[] {
  return [...(context.turn === null ? [] : [context.turn.message_sequence]), ...context.queue, NOWHERE];
}

/** The starts that a record could name: every open effect of whatever kind, and one that is not there. */
function starts(context: SessionContext): readonly Sequence[] {
  return [...context.open.map(({ sequence }) => sequence), NOWHERE];
}

/** The environments that a record could name: those that are known, and one that is not. */
function ofEnvironments<T extends EnvironmentRequest>(context: SessionContext, request: T): readonly { environment: string; request: T }[] {
  return [...Object.keys(context.environments), 'toaster'].map((environment) => ({ environment, request }));
}

/** Every pair of a message and a start, with the rest of a record's data. */
function ends<T extends object>(context: SessionContext, rest: T): readonly (T & { message_sequence: Sequence; started_sequence: Sequence })[] {
  return messages(context).flatMap((message_sequence) =>
    starts(context).map((started_sequence) => ({ message_sequence, started_sequence, ...rest })),
  );
}

function ofMessages<T extends object>(context: SessionContext, rest: T): readonly (T & { message_sequence: Sequence })[] {
  return messages(context).map((message_sequence) => ({ message_sequence, ...rest }));
}

const setup = { type: 'setup', configuration: {} } as const;
const receipt = { type: 'accepted' } as const;
const failure = { outcome: 'unknown', code: 'x', message: 'x' } as const;
const answer = { message: { role: 'assistant', content: [] }, finish_reason: 'stop' } as const;

export const VARIANTS: Variants = {
  session_created: () => [CREATED, { ...CREATED, retain: 0, after_stop: 'hold' }],
  session_ready: () => [{}],
  session_failed: () => [{ code: 'x', message: 'x' }],
  session_metadata_changed: () => [{ metadata: {} }, { metadata: { a: 'b' } }],
  session_suspended: () => [{}],
  session_resumed: ({ checkpoint }) => [{ checkpoint_sequence: checkpoint?.sequence ?? 0 }, { checkpoint_sequence: NOWHERE }],
  session_end_requested: () => [{ mode: 'wait' }, { mode: 'interrupt' }],
  session_ending: (context) => [{}, ...ofMessages(context, {})],
  session_ended: () => [{}],
  session_delete_requested: () => [{}],
  message_queued: () => [
    { input: 'hello', mode: 'sync' },
    { input: '', mode: 'async' },
    { input: [], mode: 'queue', key: 'k' },
  ],
  message_withdrawn: (context) => ofMessages(context, {}),
  message_failed: (context) => ofMessages(context, { code: 'conflict' }),
  turn_started: (context) => ofMessages(context, {}),
  turn_cancel_requested: (context) =>
    (['caller', 'deadline', 'close', 'shutdown'] as const).flatMap((by) => ofMessages(context, { by })),
  turn_ended: (context) =>
    [context.queue[0] ?? null, null, NOWHERE].flatMap((next) => [
      ...ofMessages(context, { next, end: false }),
      ...ofMessages(context, { next, end: true }),
    ]),
  turn_failed: (context) =>
    (['cancelled', 'turn_timeout', 'closed', 'shutdown', 'loop_error'] as const).flatMap((code) => [
      ...ofMessages(context, { code, message: 'x', end: false }),
      ...ofMessages(context, { code, message: 'x', end: true }),
    ]),
  activation_started: (context) => ofMessages(context, { agentloop: 'chat' }),
  activation_ended: (context) => ends(context, {}),
  activation_failed: (context) => ends(context, { code: 'loop_error', message: 'x' } as const),
  model_call_started: (context) =>
    ofMessages(context, {
      provider: 'demo',
      model: 'echo',
      message_count: 0,
      context: { through_sequence: context.last_sequence, delta: null },
    }),
  model_call_ended: (context) => ends(context, answer),
  model_call_failed: (context) => ends(context, failure),
  tool_call_started: (context) =>
    ofMessages(context, { tool: 'clock', tool_use_id: 'a', input_text: '{}', deadline: null, effect: 'read' } as const),
  tool_call_ended: (context) => ends(context, { outcome: 'ok', output: null, is_error: false } as const),
  environment_setup_started: (context) => ofEnvironments(context, setup),
  environment_setup_ended: (context) => ends(context, { receipt }),
  environment_setup_failed: (context) => ends(context, failure),
  environment_detach_started: (context) => ofEnvironments(context, { type: 'detach' }),
  environment_detach_ended: (context) => ends(context, { receipt }),
  environment_detach_failed: (context) => ends(context, failure),
  environment_teardown_started: (context) => ofEnvironments(context, { type: 'teardown' }),
  environment_teardown_ended: (context) => ends(context, { receipt }),
  environment_teardown_failed: (context) => ends(context, failure),
  extension_emitted: (context) => [
    ...ofMessages(context, { name: 'a.b', data: null }),
    ...starts(context).flatMap((sequence) =>
      (['agentloop', 'tool'] as const).flatMap((kind) =>
        ofMessages(context, { origin: { kind, sequence }, name: 'xstate.stop', data: null }),
      ),
    ),
  ],
  transcript_delta: (context) => [
    { from: context.transcript_length, messages: [] },
    ...ofMessages(context, { from: context.transcript_length, messages: [] }),
    ...ofMessages(context, { from: 0, messages: [], replaces: 1 }),
  ],
  kv_put: (context) => ofMessages(context, { key: 'k', value: null }),
  kv_deleted: (context) => ofMessages(context, { key: 'k' }),
  request_answered: () => [{}],
};

/** The one open effect of a kind. */
export function openOf(context: SessionContext, kind: EffectKind): Sequence {
  const found = context.open.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no ${kind} is open`);
  return found.sequence;
}
