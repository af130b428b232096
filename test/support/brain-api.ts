/** The routes of `/v1` as a client calls them. Each answer's status is checked here, its contents by the tests. */

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface Session {
  readonly session_id: string;
  readonly status: string;
  readonly resident: boolean;
  readonly last_sequence: number;
}

export interface TurnAnswer {
  readonly session_id: string;
  readonly sequence: number;
  readonly outcome: 'ended' | 'failed';
  readonly result?: { readonly text: string };
  readonly error?: { readonly code: string; readonly message: string };
  readonly status: string;
  readonly last_sequence: number;
}

export interface RecordedEvent {
  readonly sequence: number;
  readonly recorded_at: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface JournalRecord extends RecordedEvent {
  readonly state: string;
}

export interface TranscriptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Readonly<Record<string, unknown>>[];
}

export interface EventsPage {
  readonly events: readonly RecordedEvent[];
  readonly next_cursor: number;
}

export interface SessionsPage {
  readonly sessions: readonly Session[];
  readonly next_cursor: string | null;
}

export class BrainApi {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  }

  async create(body: Readonly<Record<string, unknown>> = {}): Promise<Session> {
    return this.#expect<Session>(201, 'POST', '/v1/sessions', body);
  }

  async session(id: string): Promise<Session> {
    return this.#expect<Session>(200, 'GET', `/v1/sessions/${id}`);
  }

  async sessions(query = ''): Promise<SessionsPage> {
    return this.#expect<SessionsPage>(200, 'GET', `/v1/sessions${query}`);
  }

  /** Answers when the turn is over. */
  async send(id: string, input: unknown): Promise<TurnAnswer> {
    return this.#expect<TurnAnswer>(200, 'POST', `/v1/sessions/${id}/messages`, { input });
  }

  /** Answers when the turn's start is durable. */
  async submit(id: string, input: unknown): Promise<{ readonly session_id: string; readonly sequence: number }> {
    return this.#expect(202, 'POST', `/v1/sessions/${id}/messages`, { input }, { prefer: 'respond-async' });
  }

  async cancel(id: string): Promise<void> {
    await this.#expect(202, 'POST', `/v1/sessions/${id}/cancel`);
  }

  async end(id: string): Promise<Session> {
    return this.#expect<Session>(200, 'POST', `/v1/sessions/${id}/end`);
  }

  async delete(id: string): Promise<void> {
    await this.#expect(204, 'DELETE', `/v1/sessions/${id}`);
  }

  async transcript(id: string): Promise<readonly TranscriptMessage[]> {
    const { messages } = await this.#expect<{ messages: readonly TranscriptMessage[] }>(200, 'GET', `/v1/sessions/${id}/transcript`);
    return messages;
  }

  async eventsPage(id: string, after: number, limit?: number): Promise<EventsPage> {
    const query = limit === undefined ? `after=${after}` : `after=${after}&limit=${limit}`;
    return this.#expect<EventsPage>(200, 'GET', `/v1/sessions/${id}/events?${query}`);
  }

  /** All public events, page by page. */
  async events(id: string, limit = 1000): Promise<readonly RecordedEvent[]> {
    return this.#pages<RecordedEvent>((after) => this.eventsPage(id, after, limit));
  }

  /** Every record, page by page. */
  async journal(id: string): Promise<readonly JournalRecord[]> {
    return this.#pages<JournalRecord>((after) => this.#journalPage(id, after));
  }

  async #journalPage(id: string, after: number): Promise<{ events: readonly JournalRecord[]; next_cursor: number }> {
    const page = await this.#expect<{ records: readonly JournalRecord[]; next_cursor: number }>(
      200,
      'GET',
      `/v1/sessions/${id}/journal?after=${after}&limit=1000`,
    );
    return { events: page.records, next_cursor: page.next_cursor };
  }

  async #pages<T>(pageAfter: (after: number) => Promise<{ events: readonly T[]; next_cursor: number }>): Promise<readonly T[]> {
    const items: T[] = [];
    let after = 0;
    for (;;) {
      const page = await pageAfter(after);
      items.push(...page.events);
      // The end is where a page neither holds anything nor moves the cursor.
      if (page.next_cursor === after) return items;
      after = page.next_cursor;
    }
  }

  async #expect<T>(status: number, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<T> {
    const answer = await this.request(method, path, body, headers);
    if (answer.status !== status) {
      throw new Error(`${method} ${path} answered ${answer.status} instead of ${status}: ${JSON.stringify(answer.body)}`);
    }
    return answer.body as T;
  }
}
