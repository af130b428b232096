/** The routes of `/sessions` as a client calls them. Each answer's status is checked here, its contents by the tests. */
import { BrainApi, type Answer } from './brain-api.ts';

export interface LifecycleSession {
  readonly id: string;
  readonly status: string;
  readonly checkpoint: { readonly id: string; readonly offset: number; readonly time: string };
}

export interface LifecycleEvent {
  readonly id: string;
  readonly type: string;
  readonly session_id: string;
  readonly time: string;
  readonly input_id?: string;
  readonly text?: string;
  readonly status?: string;
  readonly code?: string;
}

export interface LifecyclePage {
  readonly events: readonly LifecycleEvent[];
  readonly next_cursor: string;
}

export class LifecycleApi {
  readonly #api: BrainApi;

  constructor(url: string) {
    this.#api = new BrainApi(url);
  }

  get url(): string {
    return this.#api.url;
  }

  request(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.#api.request(method, path, body);
  }

  async create(config: Readonly<Record<string, unknown>> = {}, harness = 'chat'): Promise<LifecycleSession> {
    return this.#expect(201, 'POST', '/sessions', { harness, config: { model: 'openai/scripted', ...config } });
  }

  async session(id: string): Promise<LifecycleSession> {
    return this.#expect(200, 'GET', `/sessions/${id}`);
  }

  async send(id: string, text: string, key?: string): Promise<LifecycleEvent> {
    return this.#expect(202, 'POST', `/sessions/${id}/events`, { type: 'user.message', text, ...(key === undefined ? {} : { key }) });
  }

  async interrupt(id: string): Promise<void> {
    await this.#expect(202, 'POST', `/sessions/${id}/events`, { type: 'user.interrupt' });
  }

  async resume(id: string): Promise<LifecycleSession> {
    return this.#expect(200, 'POST', `/sessions/${id}/resume`);
  }

  async close(id: string): Promise<void> {
    await this.#expect(202, 'POST', `/sessions/${id}/close`);
  }

  streamOf(id: string, after = '0'): string {
    return `${this.url}/sessions/${id}/events?after=${after}`;
  }

  /** All retained events, page by page. */
  async events(id: string, limit = 1000): Promise<readonly LifecycleEvent[]> {
    const events: LifecycleEvent[] = [];
    let after = '0';
    for (;;) {
      const page: LifecyclePage = await this.#expect(200, 'GET', `/sessions/${id}/events?after=${after}&limit=${limit}`);
      events.push(...page.events);
      // The end is where a page neither holds anything nor moves the cursor.
      if (page.events.length === 0 && page.next_cursor === after) return events;
      after = page.next_cursor;
    }
  }

  async #expect<T>(status: number, method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.request(method, path, body);
    if (answer.status === status) return answer.body as T;
    throw new Error(`${method} ${path} answered ${answer.status} instead of ${status}: ${JSON.stringify(answer.body)}`);
  }
}

/** What is wrong with a session's events once it is at rest: each message has one end, and each turn's events its id. */
export function eventFaultsOf(events: readonly LifecycleEvent[]): readonly string[] {
  return [...messageFaults(events), ...statusFaults(events)];
}

function messageFaults(events: readonly LifecycleEvent[]): readonly string[] {
  const messages = events.filter(({ type }) => type === 'user.message').map(({ id }) => id);
  const starts = events.filter(({ status }) => status === 'running').map(({ input_id }) => input_id);
  const inOrder = messages.filter((id) => starts.includes(id));
  return [
    ...(starts.join() === inOrder.join() ? [] : [`turns started as ${starts.join()} where messages came as ${inOrder.join()}`]),
    ...messages.flatMap((id) => {
      const errors = events.filter(({ type, input_id }) => type === 'session.error' && input_id === id).length;
      // A turn that completes is followed by the next one's start, or by idle.
      const next = events.slice(events.findIndex(({ status, input_id }) => status === 'running' && input_id === id) + 1).find(({ type }) => type === 'session.status');
      const completed = starts.includes(id) && errors === 0 && (next?.status === 'idle' || next?.status === 'running' || next?.status === 'closed') ? 1 : 0;
      return errors + completed === 1 ? [] : [`message ${id} has ${errors} errors and ${completed} ends`];
    }),
  ];
}

/** From which status each may follow. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  running: ['idle', 'running'],
  idle: ['running', 'interrupted', 'failed'],
  interrupted: ['running'],
  failed: ['running'],
  closed: ['idle', 'running', 'interrupted', 'failed'],
};

function statusFaults(events: readonly LifecycleEvent[]): readonly string[] {
  const statuses = ['idle', ...events.flatMap(({ type, status }) => (type === 'session.status' && status !== undefined ? [status] : []))];
  const closedAt = events.findIndex(({ status }) => status === 'closed');
  return [
    ...statuses.slice(1).flatMap((status, at) => {
      const before = statuses[at] ?? '';
      return BEFORE[status]?.includes(before) === true ? [] : [`${status} came after ${before}`];
    }),
    ...(closedAt >= 0 && closedAt < events.length - 1 ? ['something came after closed'] : []),
  ];
}
