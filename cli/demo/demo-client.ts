/** The few calls of the API that the demonstration makes. */

/** An event as it is shown: recorded ones have a sequence, live-only ones have none. */
export interface ShownEvent {
  readonly sequence: number | null;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface EventEnvelope {
  readonly sequence: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export async function createSession(url: string): Promise<{ readonly session_id: string; readonly tools: readonly string[] }> {
  return call(`${url}/v1/sessions`, { method: 'POST', body: {} });
}

/** Resolves when the turn's start is durable. */
export async function submit(url: string, sessionId: string, input: string): Promise<void> {
  await call(`${url}/v1/sessions/${sessionId}/messages`, { method: 'POST', body: { input }, prefer: 'respond-async' });
}

export async function eventsAfter(url: string, sessionId: string, after: number): Promise<readonly ShownEvent[]> {
  const page = await call<{ readonly events: readonly EventEnvelope[] }>(`${url}/v1/sessions/${sessionId}/events?after=${after}`);
  return page.events;
}

/** Everything after a cursor, and then everything as it happens. Leaving the loop hangs up. */
export async function* follow(url: string, sessionId: string, after: number): AsyncGenerator<ShownEvent, void, undefined> {
  const hangUp = new AbortController();
  const response = await fetch(`${url}/v1/sessions/${sessionId}/events?after=${after}`, {
    headers: { accept: 'text/event-stream' },
    signal: hangUp.signal,
  });
  if (response.body === null) throw new Error(`the stream has no body: ${response.status}`);
  try {
    let rest = '';
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + text).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const event = eventIn(frame);
        if (event !== null) yield event;
      }
    }
  } finally {
    hangUp.abort();
  }
}

/** Null for a comment. */
function eventIn(frame: string): ShownEvent | null {
  const fields = new Map(frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]));
  const text = fields.get('data');
  if (text === undefined) return null;
  const data = JSON.parse(text) as Readonly<Record<string, unknown>> & EventEnvelope;
  if (!fields.has('id')) return { sequence: null, type: fields.get('event') ?? '', data };
  return { sequence: data.sequence, type: data.type, data: data.data };
}

async function call<T>(
  url: string,
  request: { readonly method?: string; readonly body?: unknown; readonly prefer?: string } = {},
): Promise<T> {
  const response = await fetch(url, {
    method: request.method ?? 'GET',
    headers: { 'content-type': 'application/json', ...(request.prefer === undefined ? {} : { prefer: request.prefer }) },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}
