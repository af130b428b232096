/** A `SessionService` that notes what it is asked and answers what a test has put there. */
import type { LifecycleCursor, LifecycleEvent } from '../../machines/projections/lifecycle-events.ts';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import type { SessionRecord } from '../../machines/records.ts';
import type {
  DamagedSessionView,
  Following,
  Page,
  SessionService,
  SessionView,
  TurnAnswer,
  TurnReceipt,
  WaitingMessage,
} from '../../services/session-service.ts';

export const SESSION_ID = '019a0000000070008000000000000001';

export const SESSION: SessionView = {
  session_id: SESSION_ID,
  tenant: 'local',
  status: 'idle',
  lifecycle_status: 'idle',
  resident: false,
  last_sequence: 2,
  last_recorded_at: 1_767_268_861_002,
  running_turn: null,
  queue_length: 0,
  created_at: 1_767_268_800_999,
  updated_at: 1_767_268_861_001,
  agentloop: { name: 'chat', configuration: {} },
  model: { provider: 'demo', name: 'echo', protocol: 'openai-chat', base_url: 'http://models.internal' },
  tools: [{ name: 'add', description: 'Adds.', input_schema: { type: 'object' }, effect: 'read', environment: 'brain' }],
  environments: ['brain'],
  after_stop: 'idle',
  retain: null,
  metadata: { team: 'red' },
  checkpoint: { sequence: 2, offset: 0, recorded_at: 1_767_268_800_999 },
};

export const TURN: TurnAnswer = {
  session_id: SESSION_ID,
  sequence: 4,
  outcome: 'ended',
  result: { text: 'Hello', message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }, finish_reason: 'stop' },
  status: 'idle',
  last_sequence: 9,
};

export interface Call {
  readonly method: keyof SessionService;
  readonly args: readonly unknown[];
}

export class FakeSessionService implements SessionService {
  readonly calls: Call[] = [];
  /** What the next calls of a method do, in place of the answer that they have here. */
  readonly instead: Partial<SessionService> = {};
  listed: readonly (SessionView | DamagedSessionView)[] = [SESSION];

  create(...args: Parameters<SessionService['create']>): Promise<SessionView> {
    return this.#answer('create', args, SESSION);
  }

  get(...args: Parameters<SessionService['get']>): Promise<SessionView> {
    return this.#answer('get', args, SESSION);
  }

  list(...args: Parameters<SessionService['list']>): ReturnType<SessionService['list']> {
    return this.#answer('list', args, { sessions: this.listed, next_cursor: null });
  }

  /** Every session is there, unless a test says otherwise; and no call of a route is counted by this look. */
  assertThere: SessionService['assertThere'] = () => Promise.resolve();

  /** No key was used before, unless a test says so; and no call of a route is counted by its look-up. */
  repeated: SessionService['repeated'] = () => Promise.resolve(null);

  changeMetadata(...args: Parameters<SessionService['changeMetadata']>): Promise<SessionView> {
    return this.#answer('changeMetadata', args, SESSION);
  }

  send(...args: Parameters<SessionService['send']>): Promise<TurnAnswer> {
    return this.#answer('send', args, TURN);
  }

  submit(...args: Parameters<SessionService['submit']>): Promise<TurnReceipt> {
    return this.#answer('submit', args, { session_id: SESSION_ID, sequence: 4 });
  }

  queue(...args: Parameters<SessionService['queue']>): ReturnType<SessionService['queue']> {
    return this.#answer('queue', args, lifecycleEventAt(3));
  }

  waiting(...args: Parameters<SessionService['waiting']>): Promise<readonly WaitingMessage[]> {
    return this.#answer('waiting', args, [{ message_sequence: 3, text: 'Hello', recorded_at: 1_767_268_800_003 }]);
  }

  withdraw(...args: Parameters<SessionService['withdraw']>): Promise<void> {
    return this.#answer('withdraw', args, undefined);
  }

  close(...args: Parameters<SessionService['close']>): Promise<void> {
    return this.#answer('close', args, undefined);
  }

  cancel(...args: Parameters<SessionService['cancel']>): Promise<void> {
    return this.#answer('cancel', args, undefined);
  }

  resume(...args: Parameters<SessionService['resume']>): Promise<SessionView> {
    return this.#answer('resume', args, SESSION);
  }

  end(...args: Parameters<SessionService['end']>): Promise<SessionView> {
    return this.#answer('end', args, { ...SESSION, status: 'ended' });
  }

  delete(...args: Parameters<SessionService['delete']>): Promise<void> {
    return this.#answer('delete', args, undefined);
  }

  lifecycleEvents(...args: Parameters<SessionService['lifecycleEvents']>): Promise<Page<LifecycleEvent, LifecycleCursor>> {
    return this.#answer('lifecycleEvents', args, { items: [lifecycleEventAt(3)], next_cursor: { sequence: 7, index: null } });
  }

  events(...args: Parameters<SessionService['events']>): Promise<Page<PublicEvent>> {
    return this.#answer('events', args, { items: [eventAt(3)], next_cursor: 7 });
  }

  journal(...args: Parameters<SessionService['journal']>): Promise<Page<SessionRecord>> {
    return this.#answer('journal', args, { items: [recordAt(3)], next_cursor: 3 });
  }

  transcript(...args: Parameters<SessionService['transcript']>): ReturnType<SessionService['transcript']> {
    return this.#answer('transcript', args, { messages: [{ role: 'user', content: [] }], through_sequence: 9 });
  }

  followLifecycle(...args: Parameters<SessionService['followLifecycle']>): Promise<Following<LifecycleEvent>> {
    return this.#answer('followLifecycle', args, { ended: true, items: nothing() });
  }

  followEvents(...args: Parameters<SessionService['followEvents']>): Promise<Following<PublicEvent>> {
    return this.#answer('followEvents', args, { ended: true, items: nothing() });
  }

  followJournal(...args: Parameters<SessionService['followJournal']>): Promise<Following<SessionRecord>> {
    return this.#answer('followJournal', args, { ended: true, items: nothing() });
  }

  async #answer<K extends keyof SessionService>(
    method: K,
    args: Parameters<SessionService[K]>,
    answer: Awaited<ReturnType<SessionService[K]>>,
  ): Promise<Awaited<ReturnType<SessionService[K]>>> {
    // An optional argument that was left out is no argument.
    this.calls.push({ method, args: args.filter((argument: unknown) => argument !== undefined) });
    const instead = this.instead[method] as
      | ((...args: Parameters<SessionService[K]>) => Promise<Awaited<ReturnType<SessionService[K]>>>)
      | undefined;
    return instead === undefined ? answer : instead(...args);
  }
}

export function eventAt(sequence: number, data: unknown = { message_sequence: 2 }): PublicEvent {
  return { sequence, recorded_at: 1_767_268_800_000 + sequence, type: 'turn_started', data };
}

export function lifecycleEventAt(sequence: number, text = 'Hello'): LifecycleEvent<'user.message'> {
  return { sequence, index: 0, recorded_at: 1_767_268_800_000 + sequence, type: 'user.message', input_sequence: sequence, data: { text } };
}

export function recordAt(sequence: number): SessionRecord<'turn_started'> {
  return { sequence, recorded_at: 1_767_268_800_000, type: 'turn_started', state: 'running.working', data: { message_sequence: 2 } };
}

async function* nothing(): AsyncGenerator<never> {
  // A session that is over, with nothing after the cursor.
}
