/** The circumstances that the table is read in: for each chart state, the ways in which a session can stand there. */
import { SNAPSHOT_OF_NO_SESSION, type SessionSnapshot } from '../../machines/chart-step.ts';
import { Draft } from '../../machines/dry-run.ts';
import type { ChartState } from '../../machines/projections/status.ts';
import type { CancelBy, EffectOutcome, RecordData, RecordType, Sequence, SessionCreated } from '../../machines/records.ts';
import type { SessionContext } from '../../machines/session-context.ts';
import { CREATED } from '../support/session-story.ts';

export interface Situation {
  readonly name: string;
  readonly state: ChartState;
  readonly snapshot: SessionSnapshot;
  /** The records that led there, each with the snapshot before it. */
  readonly steps: readonly { readonly before: SessionSnapshot; readonly type: RecordType; readonly data: unknown }[];
}

type Settings = Partial<Pick<SessionCreated, 'retain' | 'after_stop'>>;

/** A session on its way to a situation, and to the next from there. */
class Path {
  readonly #draft = new Draft(SNAPSHOT_OF_NO_SESSION);
  readonly steps: { before: SessionSnapshot; type: RecordType; data: unknown }[] = [];

  get context(): SessionContext {
    return this.#draft.context;
  }

  get snapshot(): SessionSnapshot {
    return this.#draft.snapshot;
  }

  add<T extends RecordType>(type: T, data: RecordData[T]): this {
    this.steps.push({ before: this.#draft.snapshot, type, data });
    this.#draft.add(type, data);
    return this;
  }

  get message(): Sequence {
    return this.context.turn?.message_sequence ?? 0;
  }

  get activation(): Sequence {
    return this.context.turn?.activation ?? 0;
  }

  get last(): Sequence {
    return this.context.last_sequence;
  }

  queue(): this {
    return this.add('message_queued', { input: 'hello', mode: 'queue' });
  }

  setUp(environment: string): this {
    return this.add('environment_setup_started', { environment, request: { type: 'setup', configuration: {} } });
  }

  /** How the operation that was begun last ended. */
  attached(): this {
    return this.add('environment_setup_ended', { started_sequence: this.last, receipt: { type: 'accepted' } });
  }

  notAttached(outcome: EffectOutcome): this {
    return this.add('environment_setup_failed', { started_sequence: this.last, outcome, code: 'x', message: 'x' });
  }

  detach(environment: string): this {
    return this.add('environment_detach_started', { environment, request: { type: 'detach' } });
  }

  detached(): this {
    return this.add('environment_detach_ended', { started_sequence: this.last, receipt: { type: 'accepted' } });
  }

  tearDown(environment: string): this {
    return this.add('environment_teardown_started', { environment, request: { type: 'teardown' } });
  }

  gone(): this {
    return this.add('environment_teardown_ended', { started_sequence: this.last, receipt: { type: 'accepted' } });
  }

  startLoop(): this {
    return this.add('activation_started', { message_sequence: this.message, agentloop: 'chat' });
  }

  returnLoop(): this {
    return this.add('activation_ended', { message_sequence: this.message, started_sequence: this.activation });
  }

  failLoop(): this {
    const { message: message_sequence, activation: started_sequence } = this;
    return this.add('activation_failed', { message_sequence, started_sequence, code: 'loop_error', message: 'it threw' });
  }

  callModel(): this {
    return this.add('model_call_started', {
      message_sequence: this.message,
      provider: 'demo',
      model: 'echo',
      message_count: 0,
      context: { through_sequence: this.last, delta: null },
    });
  }

  callTool(): this {
    const call = { tool: 'clock', tool_use_id: 'a', input_text: '{}', deadline: null, effect: 'read' } as const;
    return this.add('tool_call_started', { message_sequence: this.message, ...call });
  }

  say(from: number, count: number): this {
    const messages = Array.from({ length: count }, () => ({ role: 'user', content: [] }) as const);
    return this.add('transcript_delta', { message_sequence: this.message, from, messages });
  }

  cancel(by: CancelBy): this {
    return this.add('turn_cancel_requested', { message_sequence: this.message, by });
  }

  end(mode: 'wait' | 'interrupt'): this {
    return this.add('session_end_requested', { mode });
  }
}

const creating = (settings: Settings = {}): Path => new Path().add('session_created', { ...CREATED, ...settings });
const free = (settings: Settings = {}): Path => creating(settings).add('session_ready', {});

function started(settings: Settings = {}): Path {
  const path = free(settings).queue();
  return path.add('turn_started', { message_sequence: path.last });
}

const atWork = (settings: Settings = {}): Path => started(settings).startLoop();
const returned = (settings: Settings = {}): Path => atWork(settings).returnLoop();

function stopped(by: CancelBy, settings: Settings = {}): Path {
  return atWork(settings).cancel(by).failLoop();
}

/** The message after next waits: its turn has not started, in the middle of the commit that ends the turn before it. */
function betweenTurns(settings: Settings): Path {
  const path = returned(settings).queue();
  return path.add('turn_ended', { message_sequence: path.message, next: path.last, end: false });
}

function failed(settings: Settings = {}): Path {
  const path = atWork({ after_stop: 'hold', ...settings }).failLoop();
  return path.add('turn_failed', { message_sequence: path.message, code: 'loop_error', message: 'it threw', end: false });
}

function interrupted(settings: Settings = {}): Path {
  const path = stopped('caller', { after_stop: 'hold', ...settings });
  return path.add('turn_failed', { message_sequence: path.message, code: 'cancelled', message: 'stopped', end: false });
}

const unusable = (): Path => creating().add('session_failed', { code: 'x', message: 'x' });
const ending = (): Path => free().add('session_ending', {});
const ended = (): Path => ending().add('session_ended', {});

const withLaptop = (): Path => creating().setUp('laptop').attached();
const endingWithLaptop = (): Path => withLaptop().add('session_ready', {}).add('session_ending', {});
const endedWithLaptop = (): Path => endingWithLaptop().add('session_ended', {});
/** A creation of which nobody knows whether its environment is there. */
const unusableWithLaptop = (): Path => creating().setUp('laptop').notAttached('unknown').add('session_failed', { code: 'x', message: 'x' });

const RETAINED: Settings = { retain: 0 };
const HELD: Settings = { after_stop: 'hold' };

const PATHS: Readonly<Record<ChartState, Readonly<Record<string, Path>>>> = {
  none: { 'no session': new Path() },
  creating: {
    'just created': creating(),
    'just created, to be retained': creating(RETAINED),
    'being created with a setup open': creating().setUp('laptop'),
    'being created with a setup open, another done': withLaptop().setUp('phone'),
    'being created with its environment attached': withLaptop(),
    'being created, retained, with its environment attached': creating(RETAINED).setUp('laptop').attached(),
    'being created with an environment that said no': creating().setUp('laptop').notAttached('failed'),
    'being created with an environment that may be there': creating().setUp('laptop').notAttached('unknown'),
    'being created with a seed': creating().add('transcript_delta', { from: 0, messages: [{ role: 'user', content: [] }] }),
    'being created, an end asked to wait': creating().end('wait'),
    'being created, an end asked to interrupt': creating().end('interrupt'),
  },
  idle: {
    'idle for a new session': free(RETAINED),
    'idle between two turns': betweenTurns(RETAINED),
    'idle with an end asked': creating(RETAINED).end('wait').add('session_ready', {}),
  },
  suspended: {
    'suspended for a new session': free(),
    'suspended between two turns': betweenTurns({}),
    'suspended with a message queued': free().queue(),
    'suspended with an end asked': creating().end('wait').add('session_ready', {}),
  },
  'running.working': {
    'a turn without its loop yet': started(),
    'a loop at work': atWork(),
    'a loop at work, retained': atWork(RETAINED),
    'a loop at work, held': atWork(HELD),
    'a loop at work on two messages': atWork().say(0, 2),
    'a model call open': atWork().callModel(),
    'a tool call open': atWork().callTool(),
    'a message waiting': atWork().queue(),
    'two messages waiting': atWork().queue().queue(),
    'an end asked to wait': atWork().end('wait'),
    'an end asked to interrupt': atWork().end('interrupt'),
    'a loop that returned': returned(),
    'a loop that returned, retained': returned(RETAINED),
    'a loop that returned, held': returned(HELD),
    'a loop that returned, a message waiting': returned().queue(),
    'a loop that returned, an end asked': returned().end('wait'),
    'a loop that returned, an end asked, a message waiting': returned().queue().end('wait'),
  },
  'running.cancelling': {
    'stopped by its caller': stopped('caller'),
    'stopped by its caller, retained': stopped('caller', RETAINED),
    'stopped by its caller, held': stopped('caller', HELD),
    'stopped by its deadline': stopped('deadline'),
    'stopped by its deadline, held': stopped('deadline', HELD),
    'stopped by a shutdown': stopped('shutdown'),
    'stopped by a close': stopped('close'),
    'stopped before its loop began': started().cancel('caller'),
    'being stopped with its loop at work': atWork().cancel('caller'),
    'being stopped with a model call open': atWork().callModel().cancel('caller'),
    'being stopped with a tool call open': atWork().callTool().cancel('caller'),
    'being stopped on two messages': atWork().say(0, 2).cancel('caller'),
    'stopped with a message waiting': atWork().queue().cancel('caller').failLoop(),
    'stopped, an end asked to wait': stopped('caller').end('wait'),
    'stopped, an end asked to interrupt': stopped('caller').end('interrupt'),
  },
  interrupted: {
    'interrupted for its resume': interrupted(),
    'interrupted, retained': interrupted(RETAINED),
  },
  failed: {
    'failed for its resume': failed(),
    'failed, retained': failed(RETAINED),
  },
  unusable: {
    'a creation that failed': unusable(),
    'a creation that failed, an end asked': creating().end('wait').add('session_failed', { code: 'x', message: 'x' }),
    'failed, and deleted': failed().add('session_delete_requested', {}),
    'a creation that failed, its environment perhaps there': unusableWithLaptop(),
    'a creation that failed, its environment not there': creating().setUp('laptop').notAttached('failed').add('session_failed', { code: 'x', message: 'x' }),
    'a creation that failed, a teardown open': unusableWithLaptop().tearDown('laptop'),
  },
  ending: {
    'ending with nothing open': ending(),
    'ending with an environment attached': endingWithLaptop(),
    'ending with a detach open': endingWithLaptop().detach('laptop'),
    'ending with its environment detached': endingWithLaptop().detach('laptop').detached(),
    'ending with a teardown open': unusableWithLaptop().tearDown('laptop').add('session_ending', {}),
  },
  ended: {
    'ended with nothing open': ended(),
    'ended with an environment attached': endedWithLaptop(),
    'ended with a teardown open': endedWithLaptop().tearDown('laptop'),
    'ended with its environment torn down': endedWithLaptop().tearDown('laptop').gone(),
  },
};

export const SITUATIONS: readonly Situation[] = Object.entries(PATHS).flatMap(([state, paths]) =>
  Object.entries(paths).map(([name, path]) => ({
    name,
    state: state as ChartState,
    snapshot: path.snapshot,
    steps: path.steps,
  })),
);

export function situation(name: string): Situation {
  const found = SITUATIONS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no situation is called ${name}`);
  return found;
}
