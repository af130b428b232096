/**
 * Both sides of each guard, written out by hand: where a record stands, what it says, and where it leads. `no` is a
 * refusal. Each cell of the table that depends on circumstances has at least one line that leads somewhere and one no.
 */
import type { ChartState } from '../../machines/projections/status.ts';
import type { NewRecord, RecordData, RecordType } from '../../machines/records.ts';
import type { SessionContext } from '../../machines/session-context.ts';
import { CREATED } from '../support/session-story.ts';
import { NOWHERE, openOf } from './record-variants.ts';

export interface Example {
  readonly situation: string;
  readonly type: RecordType;
  readonly says: string;
  readonly record: (context: SessionContext) => NewRecord;
  readonly leads: ChartState | 'no';
}

type Data<T extends RecordType> = RecordData[T] | ((context: SessionContext) => RecordData[T]);
type Line<T extends RecordType> = readonly [situation: string, leads: ChartState | 'no', says: string, data: Data<T>];

function of<T extends RecordType>(type: T, lines: readonly Line<T>[]): readonly Example[] {
  return lines.map(([situation, leads, says, data]) => ({
    situation,
    type,
    says,
    leads,
    record: (context) =>
      ({
        sequence: context.last_sequence + 1,
        type,
        data: typeof data === 'function' ? (data as (context: SessionContext) => RecordData[T])(context) : data,
      }) as unknown as NewRecord,
  }));
}

const message = (context: SessionContext): number => context.turn?.message_sequence ?? 0;
const head = (context: SessionContext): number => context.queue[0] ?? 0;
const second = (context: SessionContext): number => context.queue[1] ?? 0;

const turn = (context: SessionContext): { message_sequence: number } => ({ message_sequence: message(context) });
const stray = { message_sequence: NOWHERE };

const CANCELLED = { code: 'cancelled', message: 'x', end: false } as const;
const LOOP_ERROR = { code: 'loop_error', message: 'x', end: false } as const;
const UNKNOWN = { outcome: 'unknown', code: 'x', message: 'x' } as const;
const QUEUED = { input: 'hello', mode: 'queue' } as const;

const WORKING = 'running.working';
const CANCELLING = 'running.cancelling';

function closing(context: SessionContext, kind: Parameters<typeof openOf>[1]): { message_sequence: number; started_sequence: number } {
  return { message_sequence: message(context), started_sequence: openOf(context, kind) };
}

/** A closed effect is not closed again: the activation of a loop that returned. */
const activationAgain = (context: SessionContext): { message_sequence: number; started_sequence: number } => ({
  message_sequence: message(context),
  started_sequence: context.turn?.activation ?? 0,
});

const CALL = { tool: 'clock', tool_use_id: 'a', input_text: '{}', deadline: null, effect: 'read' } as const;
const ANSWER = { message: { role: 'assistant', content: [] }, finish_reason: 'stop' } as const;
const RESULT = { outcome: 'ok', output: null, is_error: false } as const;
const request = (context: SessionContext): RecordData['model_call_started'] => ({
  ...turn(context),
  provider: 'demo',
  model: 'echo',
  message_count: 0,
  context: { through_sequence: context.last_sequence, delta: null },
});

/** What each guard says of a session. */
const OF_SESSIONS: readonly Example[] = [
  ...of('session_created', [['no session', 'creating', 'as the first record', CREATED]]),
  {
    situation: 'no session',
    type: 'session_created',
    says: 'as a later record',
    record: () => ({ sequence: 2, type: 'session_created', data: CREATED }),
    leads: 'no',
  },
  ...of('session_ready', [
    ['just created', 'suspended', 'with nothing open', {}],
    ['just created, to be retained', 'idle', 'with nothing open', {}],
    ['being created, an end asked to wait', 'suspended', 'with an end to come', {}],
    ['being created with its environment attached', 'suspended', 'with its environment attached', {}],
    ['being created, retained, with its environment attached', 'idle', 'with its environment attached', {}],
    ['being created with a setup open', 'no', 'with a setup open', {}],
    ['being created with a setup open, another done', 'no', 'with one of two setups open', {}],
    ['being created with an environment that said no', 'no', 'without its environment', {}],
    ['being created with an environment that may be there', 'no', 'with an environment of which nothing is known', {}],
  ]),
  ...of('session_failed', [
    ['just created', 'unusable', 'with nothing open', { code: 'x', message: 'x' }],
    ['being created with a setup open', 'no', 'with a setup open', { code: 'x', message: 'x' }],
  ]),
  ...of('session_suspended', [
    ['idle for a new session', 'suspended', 'with nothing waiting', {}],
    ['idle with an end asked', 'suspended', 'with an end to come', {}],
    ['idle between two turns', 'no', 'with a message waiting', {}],
  ]),
  ...of('session_resumed', [
    ['interrupted for its resume', 'suspended', 'to the checkpoint', ({ checkpoint }) => ({ checkpoint_sequence: checkpoint?.sequence ?? 0 })],
    ['interrupted, retained', 'idle', 'to the checkpoint', ({ checkpoint }) => ({ checkpoint_sequence: checkpoint?.sequence ?? 0 })],
    ['interrupted for its resume', 'no', 'to elsewhere', { checkpoint_sequence: 1 }],
    ['failed for its resume', 'suspended', 'to the checkpoint', ({ checkpoint }) => ({ checkpoint_sequence: checkpoint?.sequence ?? 0 })],
    ['failed, retained', 'idle', 'to the checkpoint', ({ checkpoint }) => ({ checkpoint_sequence: checkpoint?.sequence ?? 0 })],
    ['failed for its resume', 'no', 'to elsewhere', { checkpoint_sequence: NOWHERE }],
  ]),
  ...of('session_end_requested', [
    ['just created', 'creating', 'first', { mode: 'wait' }],
    ['being created, an end asked to wait', 'no', 'to wait after to wait', { mode: 'wait' }],
    ['being created, an end asked to wait', 'creating', 'to interrupt after to wait', { mode: 'interrupt' }],
    ['being created, an end asked to interrupt', 'no', 'to wait after to interrupt', { mode: 'wait' }],
    ['a loop at work', WORKING, 'first', { mode: 'wait' }],
    ['a loop at work', WORKING, 'first', { mode: 'interrupt' }],
    ['an end asked to wait', WORKING, 'to interrupt after to wait', { mode: 'interrupt' }],
    ['an end asked to wait', 'no', 'to wait after to wait', { mode: 'wait' }],
    ['an end asked to interrupt', 'no', 'to interrupt after to interrupt', { mode: 'interrupt' }],
    ['stopped by its caller', CANCELLING, 'first', { mode: 'wait' }],
    ['stopped, an end asked to wait', CANCELLING, 'to interrupt after to wait', { mode: 'interrupt' }],
    ['stopped, an end asked to interrupt', 'no', 'to wait after to interrupt', { mode: 'wait' }],
  ]),
  ...of('session_ending', [
    ['idle for a new session', 'ending', 'with nothing waiting', {}],
    ['idle with an end asked', 'ending', 'with an end asked', {}],
    ['idle between two turns', 'no', 'with a message waiting', {}],
    ['suspended for a new session', 'ending', 'with nothing waiting', {}],
    ['suspended with an end asked', 'ending', 'with an end asked', {}],
    ['suspended with a message queued', 'no', 'with a message waiting', {}],
  ]),
  ...of('session_ended', [
    ['ending with nothing open', 'ended', 'with nothing open', {}],
    ['ending with an environment attached', 'ended', 'with an environment that nobody detached, as a recovery leaves it', {}],
    ['ending with a detach open', 'no', 'with a detach open', {}],
    ['ending with a teardown open', 'no', 'with a teardown open', {}],
  ]),
  ...of('session_delete_requested', [
    ['a creation that failed', 'unusable', 'with nothing open', {}],
    ['failed, and deleted', 'unusable', 'again', {}],
    ['a creation that failed, a teardown open', 'no', 'with a teardown open', {}],
    ['ended with nothing open', 'ended', 'with nothing open', {}],
    ['ended with a teardown open', 'no', 'with a teardown open', {}],
  ]),
];

const setup = (environment: string) => ({ environment, request: { type: 'setup', configuration: {} } }) as const;
const detach = (environment: string) => ({ environment, request: { type: 'detach' } }) as const;
const teardown = (environment: string) => ({ environment, request: { type: 'teardown' } }) as const;
const done = (started_sequence: number) => ({ started_sequence, receipt: { type: 'accepted' } }) as const;
const notDone = (started_sequence: number) => ({ started_sequence, ...UNKNOWN });

const OF_ENVIRONMENTS: readonly Example[] = [
  ...of('environment_setup_started', [
    ['just created', 'creating', 'of its environment', setup('laptop')],
    ['being created with its environment attached', 'creating', 'of another environment', setup('phone')],
    ['just created', 'creating', 'of one that is called like what every object has', setup('constructor')],
    ['being created with a setup open', 'no', 'of the environment that is being set up', setup('laptop')],
    ['being created with its environment attached', 'no', 'of the environment that is attached', setup('laptop')],
    ['being created with an environment that said no', 'no', 'of the environment that said no', setup('laptop')],
  ]),
  ...of('environment_setup_ended', [
    ['being created with a setup open', 'creating', 'of the open setup', (c) => done(openOf(c, 'environment_setup'))],
    ['just created', 'no', 'of none', done(1)],
    ['being created with its environment attached', 'no', 'a second time', (c) => done(c.environments['laptop']?.operation ?? 0)],
  ]),
  ...of('environment_setup_failed', [
    ['being created with a setup open', 'creating', 'of the open setup', (c) => notDone(openOf(c, 'environment_setup'))],
    ['being created with a setup open', 'no', 'of another', notDone(1)],
    ['being created with its environment attached', 'no', 'a second time', (c) => notDone(c.environments['laptop']?.operation ?? 0)],
  ]),
  ...of('environment_detach_started', [
    ['ending with an environment attached', 'ending', 'of the environment', detach('laptop')],
    ['ending with an environment attached', 'no', 'of one that the session does not have', detach('toString')],
    ['ending with nothing open', 'no', 'of none', detach('laptop')],
    ['ending with a detach open', 'no', 'of the environment that is being detached', detach('laptop')],
    ['ending with its environment detached', 'no', 'of the environment that was detached', detach('laptop')],
    ['ending with a teardown open', 'no', 'of the environment that is being torn down', detach('laptop')],
  ]),
  ...of('environment_detach_ended', [
    ['ending with a detach open', 'ending', 'of the open detach', (c) => done(openOf(c, 'environment_detach'))],
    ['ending with nothing open', 'no', 'of none', done(1)],
  ]),
  ...of('environment_detach_failed', [
    ['ending with a detach open', 'ending', 'of the open detach', (c) => notDone(openOf(c, 'environment_detach'))],
    ['ending with a detach open', 'no', 'of another', notDone(NOWHERE)],
  ]),
  ...of('environment_teardown_started', [
    ['a creation that failed, its environment perhaps there', 'unusable', 'of what may be there', teardown('laptop')],
    ['a creation that failed, its environment not there', 'no', 'of what is not there', teardown('laptop')],
    ['a creation that failed', 'no', 'of none', teardown('laptop')],
    ['a creation that failed, a teardown open', 'no', 'of the environment that is being torn down', teardown('laptop')],
    ['ended with an environment attached', 'ended', 'of the environment', teardown('laptop')],
    ['ended with an environment attached', 'no', 'of one that the session does not have', teardown('valueOf')],
    ['ended with its environment torn down', 'no', 'of what was torn down', teardown('laptop')],
    ['ended with a teardown open', 'no', 'of the environment that is being torn down', teardown('laptop')],
  ]),
  ...of('environment_teardown_ended', [
    ['a creation that failed, a teardown open', 'unusable', 'of the open teardown', (c) => done(openOf(c, 'environment_teardown'))],
    ['a creation that failed', 'no', 'of none', done(1)],
    ['ending with a teardown open', 'ending', 'of the open teardown', (c) => done(openOf(c, 'environment_teardown'))],
    ['ending with a detach open', 'no', 'of the open detach', (c) => done(openOf(c, 'environment_detach'))],
    ['ended with a teardown open', 'ended', 'of the open teardown', (c) => done(openOf(c, 'environment_teardown'))],
    ['ended with nothing open', 'no', 'of none', done(1)],
  ]),
  ...of('environment_teardown_failed', [
    ['a creation that failed, a teardown open', 'unusable', 'of the open teardown', (c) => notDone(openOf(c, 'environment_teardown'))],
    ['a creation that failed', 'no', 'of none', notDone(1)],
    ['ending with a teardown open', 'ending', 'of the open teardown', (c) => notDone(openOf(c, 'environment_teardown'))],
    ['ending with nothing open', 'no', 'of none', notDone(1)],
    ['ended with a teardown open', 'ended', 'of the open teardown', (c) => notDone(openOf(c, 'environment_teardown'))],
    ['ended with nothing open', 'no', 'of none', notDone(1)],
  ]),
];

const OF_MESSAGES: readonly Example[] = [
  ...of('message_queued', [
    ['idle for a new session', 'idle', 'to a free session', QUEUED],
    ['idle between two turns', 'no', 'past one that waits for its turn', QUEUED],
    ['idle with an end asked', 'no', 'after an end was asked', QUEUED],
    ['suspended for a new session', 'suspended', 'to a free session', QUEUED],
    ['suspended with a message queued', 'no', 'past one that waits for its turn', QUEUED],
    ['suspended with an end asked', 'no', 'after an end was asked', QUEUED],
    ['a loop at work', WORKING, 'behind the turn', QUEUED],
    ['two messages waiting', WORKING, 'behind two more, for a deployment may allow it', QUEUED],
    ['an end asked to wait', 'no', 'after an end was asked', QUEUED],
    ['an end asked to interrupt', 'no', 'after an end was asked', QUEUED],
  ]),
  ...of('message_withdrawn', [
    ['two messages waiting', WORKING, 'of the first', (c) => ({ message_sequence: head(c) })],
    ['two messages waiting', WORKING, 'of the second', (c) => ({ message_sequence: second(c) })],
    ['a message waiting', 'no', 'of the running turn', turn],
    ['a loop at work', 'no', 'of none', stray],
    ['stopped with a message waiting', CANCELLING, 'of the first', (c) => ({ message_sequence: head(c) })],
    ['stopped with a message waiting', 'no', 'of the running turn', turn],
  ]),
  ...of('message_failed', [
    ['two messages waiting', WORKING, 'of the second', (c) => ({ message_sequence: second(c), code: 'conflict' })],
    ['a message waiting', 'no', 'of the running turn', (c) => ({ ...turn(c), code: 'conflict' })],
    ['stopped with a message waiting', CANCELLING, 'of the first', (c) => ({ message_sequence: head(c), code: 'conflict' })],
    ['stopped by its caller', 'no', 'of none', { ...stray, code: 'conflict' }],
  ]),
  ...of('turn_started', [
    ['suspended with a message queued', WORKING, 'of the head', (c) => ({ message_sequence: head(c) })],
    ['suspended between two turns', WORKING, 'of the head', (c) => ({ message_sequence: head(c) })],
    ['suspended with a message queued', 'no', 'of another', stray],
    ['suspended for a new session', 'no', 'of none', stray],
    ['suspended with an end asked', 'no', 'after an end was asked', stray],
    ['idle between two turns', WORKING, 'of the head', (c) => ({ message_sequence: head(c) })],
    ['idle for a new session', 'no', 'of none', stray],
  ]),
];

const OF_TURNS: readonly Example[] = [
  ...of('turn_cancel_requested', [
    ['a turn without its loop yet', CANCELLING, 'by its caller', (c) => ({ ...turn(c), by: 'caller' })],
    ['a loop at work', CANCELLING, 'by its deadline', (c) => ({ ...turn(c), by: 'deadline' })],
    ['a tool call open', CANCELLING, 'by a shutdown', (c) => ({ ...turn(c), by: 'shutdown' })],
    ['an end asked to interrupt', CANCELLING, 'by a close', (c) => ({ ...turn(c), by: 'close' })],
    ['a loop at work', 'no', 'of another turn', { ...stray, by: 'caller' }],
    ['a message waiting', 'no', 'of a waiting message', (c) => ({ message_sequence: head(c), by: 'caller' })],
    ['stopped by its deadline', CANCELLING, 'by the caller after the deadline', (c) => ({ ...turn(c), by: 'caller' })],
    ['stopped by a shutdown', CANCELLING, 'by the caller after a shutdown', (c) => ({ ...turn(c), by: 'caller' })],
    ['stopped by its caller', 'no', 'by the caller again', (c) => ({ ...turn(c), by: 'caller' })],
    ['stopped by a close', 'no', 'by the caller after a close', (c) => ({ ...turn(c), by: 'caller' })],
    ['stopped by its caller', 'no', 'by the deadline after the caller', (c) => ({ ...turn(c), by: 'deadline' })],
    ['stopped by its deadline', 'no', 'by a shutdown after the deadline', (c) => ({ ...turn(c), by: 'shutdown' })],
    ['stopped by a shutdown', 'no', 'by a close after a shutdown', (c) => ({ ...turn(c), by: 'close' })],
    ['stopped by its deadline', 'no', 'of another turn', { ...stray, by: 'caller' }],
  ]),
  ...of('turn_ended', [
    ['a loop that returned', 'suspended', 'with nothing to follow', (c) => ({ ...turn(c), next: null, end: false })],
    ['a loop that returned, retained', 'idle', 'with nothing to follow', (c) => ({ ...turn(c), next: null, end: false })],
    ['a loop that returned, held', 'suspended', 'with nothing to follow', (c) => ({ ...turn(c), next: null, end: false })],
    ['a loop that returned, a message waiting', 'suspended', 'with the head to follow', (c) => ({ ...turn(c), next: head(c), end: false })],
    ['a loop that returned, an end asked', 'suspended', 'with the end to follow', (c) => ({ ...turn(c), next: null, end: true })],
    ['a loop that returned', 'no', 'with a message to follow that does not wait', (c) => ({ ...turn(c), next: NOWHERE, end: false })],
    ['a loop that returned, a message waiting', 'no', 'with nothing to follow though one waits', (c) => ({ ...turn(c), next: null, end: false })],
    ['a loop that returned, an end asked', 'no', 'without the end that was asked', (c) => ({ ...turn(c), next: null, end: false })],
    ['a loop that returned', 'no', 'with an end that nobody asked', (c) => ({ ...turn(c), next: null, end: true })],
    ['a loop that returned, an end asked, a message waiting', 'no', 'with the end, and a message waiting', (c) => ({ ...turn(c), next: head(c), end: true })],
    ['a loop that returned', 'no', 'of another turn', { ...stray, next: null, end: false }],
    ['a loop at work', 'no', 'with the loop at work', (c) => ({ ...turn(c), next: null, end: false })],
    ['a model call open', 'no', 'with a model call open', (c) => ({ ...turn(c), next: null, end: false })],
    ['a turn without its loop yet', 'no', 'before the loop began', (c) => ({ ...turn(c), next: null, end: false })],
  ]),
  ...of('turn_failed', [
    ['a turn without its loop yet', 'suspended', 'before the loop began', (c) => ({ ...turn(c), ...LOOP_ERROR })],
    ['a loop that returned', 'suspended', 'with nothing open', (c) => ({ ...turn(c), ...LOOP_ERROR })],
    ['a loop that returned, retained', 'idle', 'with nothing open', (c) => ({ ...turn(c), ...LOOP_ERROR })],
    ['a loop that returned, held', 'failed', 'with nothing open', (c) => ({ ...turn(c), ...LOOP_ERROR })],
    ['a loop that returned, an end asked', 'suspended', 'with the end to follow', (c) => ({ ...turn(c), ...LOOP_ERROR, end: true })],
    ['a loop that returned', 'no', 'as cancelled, which nobody asked', (c) => ({ ...turn(c), ...CANCELLED })],
    ['a loop that returned', 'no', 'as out of time, which nobody recorded', (c) => ({ ...turn(c), ...LOOP_ERROR, code: 'turn_timeout' })],
    ['a loop that returned', 'no', 'with an end that nobody asked', (c) => ({ ...turn(c), ...LOOP_ERROR, end: true })],
    ['a loop that returned, an end asked', 'no', 'without the end that was asked', (c) => ({ ...turn(c), ...LOOP_ERROR })],
    ['a loop that returned, a message waiting', 'no', 'with a message waiting', (c) => ({ ...turn(c), ...LOOP_ERROR })],
    ['a tool call open', 'no', 'with a tool call open', (c) => ({ ...turn(c), ...LOOP_ERROR })],
    ['a loop at work', 'no', 'with the loop at work', (c) => ({ ...turn(c), ...LOOP_ERROR })],
    ['a loop that returned', 'no', 'of another turn', { ...stray, ...LOOP_ERROR }],
    ['stopped before its loop began', 'suspended', 'as cancelled', (c) => ({ ...turn(c), ...CANCELLED })],
    ['stopped by its caller', 'suspended', 'as cancelled', (c) => ({ ...turn(c), ...CANCELLED })],
    ['stopped by its caller, retained', 'idle', 'as cancelled', (c) => ({ ...turn(c), ...CANCELLED })],
    ['stopped by its caller, held', 'interrupted', 'as cancelled', (c) => ({ ...turn(c), ...CANCELLED })],
    ['stopped by its deadline', 'suspended', 'as out of time', (c) => ({ ...turn(c), ...LOOP_ERROR, code: 'turn_timeout' })],
    ['stopped by its deadline, held', 'failed', 'as out of time', (c) => ({ ...turn(c), ...LOOP_ERROR, code: 'turn_timeout' })],
    ['stopped by a shutdown', 'suspended', 'as shut down', (c) => ({ ...turn(c), ...LOOP_ERROR, code: 'shutdown' })],
    ['stopped by a close', 'suspended', 'as closed', (c) => ({ ...turn(c), ...LOOP_ERROR, code: 'closed' })],
    ['stopped, an end asked to wait', 'suspended', 'with the end to follow', (c) => ({ ...turn(c), ...CANCELLED, end: true })],
    ['stopped by its caller', 'no', 'as an error of the loop', (c) => ({ ...turn(c), ...LOOP_ERROR })],
    ['stopped by its deadline', 'no', 'as cancelled', (c) => ({ ...turn(c), ...CANCELLED })],
    ['stopped with a message waiting', 'no', 'with a message waiting', (c) => ({ ...turn(c), ...CANCELLED })],
    ['being stopped with its loop at work', 'no', 'with the loop at work', (c) => ({ ...turn(c), ...CANCELLED })],
    ['stopped, an end asked to wait', 'no', 'without the end that was asked', (c) => ({ ...turn(c), ...CANCELLED })],
  ]),
];

const OF_EFFECTS: readonly Example[] = [
  ...of('activation_started', [
    ['a turn without its loop yet', WORKING, 'of the turn', (c) => ({ ...turn(c), agentloop: 'chat' })],
    ['a turn without its loop yet', 'no', 'of another turn', { ...stray, agentloop: 'chat' }],
    ['a loop at work', 'no', 'a second time', (c) => ({ ...turn(c), agentloop: 'chat' })],
    ['a loop that returned', 'no', 'a second time', (c) => ({ ...turn(c), agentloop: 'chat' })],
  ]),
  ...of('activation_ended', [
    ['a loop at work', WORKING, 'of the loop', (c) => closing(c, 'activation')],
    ['a model call open', WORKING, 'of the loop, its model call still open', (c) => closing(c, 'activation')],
    ['a loop that returned', 'no', 'a second time', activationAgain],
    ['a model call open', 'no', 'of the model call', (c) => closing(c, 'model_call')],
    ['a loop at work', 'no', 'of another turn', (c) => ({ ...closing(c, 'activation'), ...stray })],
    ['being stopped with its loop at work', CANCELLING, 'of the loop', (c) => closing(c, 'activation')],
    ['stopped by its caller', 'no', 'a second time', activationAgain],
  ]),
  ...of('activation_failed', [
    ['a loop at work', WORKING, 'of the loop', (c) => ({ ...closing(c, 'activation'), code: 'loop_error', message: 'x' })],
    ['a loop that returned', 'no', 'a second time', (c) => ({ ...activationAgain(c), code: 'loop_error', message: 'x' })],
    ['being stopped with its loop at work', CANCELLING, 'of the loop', (c) => ({ ...closing(c, 'activation'), code: 'cancelled', message: 'x' })],
    ['stopped by its caller', 'no', 'a second time', (c) => ({ ...activationAgain(c), code: 'cancelled', message: 'x' })],
  ]),
  ...of('model_call_started', [
    ['a loop at work', WORKING, 'of the loop', request],
    ['a model call open', WORKING, 'beside another', request],
    ['a turn without its loop yet', 'no', 'before the loop began', request],
    ['a loop that returned', 'no', 'after the loop returned', request],
    ['a loop at work', 'no', 'of another turn', (c) => ({ ...request(c), ...stray })],
  ]),
  ...of('model_call_ended', [
    ['a model call open', WORKING, 'of the call', (c) => ({ ...closing(c, 'model_call'), ...ANSWER })],
    ['a model call open', 'no', 'of the loop', (c) => ({ ...closing(c, 'activation'), ...ANSWER })],
    ['a loop at work', 'no', 'of none', (c) => ({ ...turn(c), started_sequence: NOWHERE, ...ANSWER })],
    ['a model call open', 'no', 'of another turn', (c) => ({ ...closing(c, 'model_call'), ...ANSWER, ...stray })],
    ['being stopped with a model call open', CANCELLING, 'of the call', (c) => ({ ...closing(c, 'model_call'), ...ANSWER })],
    ['stopped by its caller', 'no', 'of none', (c) => ({ ...turn(c), started_sequence: NOWHERE, ...ANSWER })],
  ]),
  ...of('model_call_failed', [
    ['a model call open', WORKING, 'of the call', (c) => ({ ...closing(c, 'model_call'), ...UNKNOWN })],
    ['a tool call open', 'no', 'of a tool call', (c) => ({ ...closing(c, 'tool_call'), ...UNKNOWN })],
    ['being stopped with a model call open', CANCELLING, 'of the call', (c) => ({ ...closing(c, 'model_call'), ...UNKNOWN })],
    ['being stopped with a tool call open', 'no', 'of a tool call', (c) => ({ ...closing(c, 'tool_call'), ...UNKNOWN })],
  ]),
  ...of('tool_call_started', [
    ['a loop at work', WORKING, 'of the loop', (c) => ({ ...turn(c), ...CALL })],
    ['a tool call open', WORKING, 'beside another', (c) => ({ ...turn(c), ...CALL })],
    ['a turn without its loop yet', 'no', 'before the loop began', (c) => ({ ...turn(c), ...CALL })],
    ['a loop that returned', 'no', 'after the loop returned', (c) => ({ ...turn(c), ...CALL })],
  ]),
  ...of('tool_call_ended', [
    ['a tool call open', WORKING, 'of the call', (c) => ({ ...closing(c, 'tool_call'), ...RESULT })],
    ['a model call open', 'no', 'of a model call', (c) => ({ ...closing(c, 'model_call'), ...RESULT })],
    ['being stopped with a tool call open', CANCELLING, 'of the call', (c) => ({ ...closing(c, 'tool_call'), ...RESULT })],
    ['being stopped with its loop at work', 'no', 'of the loop', (c) => ({ ...closing(c, 'activation'), ...RESULT })],
  ]),
  ...of('extension_emitted', [
    ['a loop at work', WORKING, 'by the loop', (c) => ({ ...turn(c), origin: { kind: 'agentloop', sequence: openOf(c, 'activation') }, name: 'xstate.stop', data: null })],
    ['a tool call open', WORKING, 'by the tool', (c) => ({ ...turn(c), origin: { kind: 'tool', sequence: openOf(c, 'tool_call') }, name: 'a.b', data: null })],
    ['a loop at work', WORKING, 'by nobody, as in old journals', (c) => ({ ...turn(c), name: 'a.b', data: null })],
    ['a tool call open', 'no', 'by a tool under the loop\'s name', (c) => ({ ...turn(c), origin: { kind: 'agentloop', sequence: openOf(c, 'tool_call') }, name: 'a.b', data: null })],
    ['a loop at work', 'no', 'by a tool that is not there', (c) => ({ ...turn(c), origin: { kind: 'tool', sequence: NOWHERE }, name: 'a.b', data: null })],
    ['a loop that returned', 'no', 'by a loop that returned', (c) => ({ ...turn(c), origin: { kind: 'agentloop', sequence: c.turn?.activation ?? 0 }, name: 'a.b', data: null })],
    ['being stopped with a tool call open', CANCELLING, 'by the tool', (c) => ({ ...turn(c), origin: { kind: 'tool', sequence: openOf(c, 'tool_call') }, name: 'a.b', data: null })],
    ['stopped by its caller', 'no', 'by a loop that is over', (c) => ({ ...turn(c), origin: { kind: 'agentloop', sequence: c.turn?.activation ?? 0 }, name: 'a.b', data: null })],
  ]),
  ...of('transcript_delta', [
    ['just created', 'creating', 'as the seed', { from: 0, messages: [{ role: 'user', content: [] }] }],
    ['being created with a seed', 'no', 'over what is there', { from: 0, messages: [] }],
    ['a loop at work on two messages', WORKING, 'as an append', (c) => ({ ...turn(c), from: 2, messages: [] })],
    ['a loop at work on two messages', WORKING, 'as an edit of the last', (c) => ({ ...turn(c), from: 1, replaces: 1, messages: [] })],
    ['a loop at work on two messages', WORKING, 'as a new beginning', (c) => ({ ...turn(c), from: 0, replaces: 2, messages: [] })],
    ['a loop at work on two messages', 'no', 'with a gap', (c) => ({ ...turn(c), from: 3, messages: [] })],
    ['a loop at work on two messages', 'no', 'over more than is there', (c) => ({ ...turn(c), from: 1, replaces: 2, messages: [] })],
    ['a loop at work on two messages', 'no', 'as an append that says it replaces nothing', (c) => ({ ...turn(c), from: 2, replaces: 0, messages: [] })],
    ['a loop at work on two messages', 'no', 'with a gap that the count makes up for', (c) => ({ ...turn(c), from: 3, replaces: -1, messages: [] })],
    ['a loop at work on two messages', 'no', 'from before the start', (c) => ({ ...turn(c), from: -1, replaces: 3, messages: [] })],
    ['a loop at work on two messages', 'no', 'from within a message', (c) => ({ ...turn(c), from: 0.5, replaces: 1.5, messages: [] })],
    ['a loop at work on two messages', 'no', 'of no turn', { from: 2, messages: [] }],
    ['a loop that returned', 'no', 'after the loop returned', (c) => ({ ...turn(c), from: 0, messages: [] })],
    ['being stopped on two messages', CANCELLING, 'as an append', (c) => ({ ...turn(c), from: 2, messages: [] })],
    ['being stopped on two messages', 'no', 'with a gap', (c) => ({ ...turn(c), from: 3, messages: [] })],
  ]),
  ...of('kv_put', [
    ['a loop at work', WORKING, 'of the loop', (c) => ({ ...turn(c), key: 'k', value: null })],
    ['a turn without its loop yet', 'no', 'before the loop began', (c) => ({ ...turn(c), key: 'k', value: null })],
    ['a loop that returned', 'no', 'after the loop returned', (c) => ({ ...turn(c), key: 'k', value: null })],
    ['being stopped with its loop at work', CANCELLING, 'of the loop', (c) => ({ ...turn(c), key: 'k', value: null })],
    ['stopped by its caller', 'no', 'of a loop that is over', (c) => ({ ...turn(c), key: 'k', value: null })],
  ]),
  ...of('kv_deleted', [
    ['a loop at work', WORKING, 'of the loop', (c) => ({ ...turn(c), key: 'k' })],
    ['a loop at work', 'no', 'of another turn', { ...stray, key: 'k' }],
    ['being stopped with its loop at work', CANCELLING, 'of the loop', (c) => ({ ...turn(c), key: 'k' })],
    ['being stopped with its loop at work', 'no', 'of another turn', { ...stray, key: 'k' }],
  ]),
];

export const EXAMPLES: readonly Example[] = [...OF_SESSIONS, ...OF_ENVIRONMENTS, ...OF_MESSAGES, ...OF_TURNS, ...OF_EFFECTS];
