/** What a host is told, and how it holds to it, on a scripted network and clock. */
import { describe, expect, it } from 'vitest';
import { Brain, hostEnv, serveTools, tool, type Tool, type ToolContext } from '../../client/index.ts';
import { SILENCE_MS } from '../../client/event-connection.ts';
import { gate } from '../support/gate.ts';
import { json, lost, never, refusal, ScriptedFetch, ScriptedStream, SESSION, type SentRequest } from '../support/scripted-fetch.ts';
import { quiescence, SimulatedClock } from '../support/simulated-clock.ts';

/** Longer than any pause before another try. */
const ANY_PAUSE_MS = 5_000;

type Answer = (request: SentRequest, index: number) => Response | Promise<Response> | undefined;

/** A server with a host, of which each test scripts what differs. */
class Scene {
  readonly clock = new SimulatedClock();
  readonly streams: ScriptedStream[] = [];
  readonly errors: Error[] = [];
  readonly network: ScriptedFetch;
  readonly brain: Brain;
  readonly calls: unknown[] = [];
  run: (input: unknown, context: ToolContext) => unknown = () => 'done';

  constructor(answer: Answer = () => undefined) {
    this.network = new ScriptedFetch((request, index) => answer(request, index) ?? this.#usual(request));
    this.brain = new Brain({ fetch: this.network.fetch, clock: this.clock, onError: (error) => void this.errors.push(error) });
  }

  get tool(): Tool {
    return tool({
      name: 'grind',
      description: 'Grinds.',
      input: { type: 'object' },
      run: (input, context) => {
        this.calls.push(input);
        return this.run(input, context);
      },
    });
  }

  async serve(): Promise<this> {
    await this.brain.serve([hostEnv({ name: 'mill', tools: [this.tool] })]);
    return this;
  }

  /** On the newest stream. */
  async tell(...frames: readonly string[]): Promise<void> {
    this.streams.at(-1)?.write(frames.join(''));
    await quiescence();
  }

  /** What was posted of commands. */
  get results(): readonly unknown[] {
    return this.network.sent.filter(({ path }) => path.endsWith('/results')).map(({ body }) => body);
  }

  get lines(): readonly string[] {
    return this.network.lines;
  }

  #usual({ path }: SentRequest): Response {
    if (path.endsWith('/commands')) {
      const stream = new ScriptedStream();
      this.streams.push(stream);
      return stream.response;
    }
    if (path === '/v1/hosts') return json({ host: 'mill', token: 'the-token-of-the-host' }, 201);
    return path === '/v1/sessions' ? json(SESSION, 201) : new Response(null, { status: 204 });
  }
}

const NAMED = { session_id: SESSION.session_id, sequence: 7 };

function command(sequence = 7, request: object = { type: 'invoke', tool: 'grind', input: {}, deadline_ms: 1_000 }): string {
  return `event: command\ndata: ${JSON.stringify({ contract: 'environment/v1', operation: { ...NAMED, sequence, environment: 'mill', request } })}\n\n`;
}

function cancel(sequence = 7): string {
  return `event: cancel\ndata: ${JSON.stringify({ ...NAMED, sequence })}\n\n`;
}

const DONE = { ...NAMED, receipt: { type: 'result', output: 'done' } };
const isStream = ({ path }: SentRequest): boolean => path.endsWith('/commands');
const isResult = ({ path }: SentRequest): boolean => path.endsWith('/results');

describe('a create with tools of the own process', () => {
  it('declares, registers, waits for its stream, and then creates', async () => {
    const opened = gate();
    const scene = new Scene((request) => (isStream(request) ? opened.opened.then(() => new ScriptedStream().response) : undefined));
    const creating = scene.brain.sessions.create({ environments: [hostEnv({ name: 'mill', tools: [scene.tool] })] });
    await quiescence();
    const before = ['PUT /v1/environments/mill', 'POST /v1/hosts', 'GET /v1/hosts/mill/commands'];
    expect(scene.lines).toEqual(before);
    opened.open();
    await creating;

    expect(scene.lines).toEqual([...before, 'POST /v1/sessions']);
    expect(scene.network.sent.map(({ body }) => body)).toEqual([
      { driver: 'host', host: 'mill', tools: [{ name: 'grind', description: 'Grinds.', input_schema: { type: 'object' } }] },
      { name: 'mill', incarnation: expect.any(String) },
      undefined,
      { environments: ['mill'] },
    ]);
    expect(scene.network.sent.map(({ headers }) => headers.get('Authorization'))).toEqual([null, null, 'Bearer the-token-of-the-host', null]);
  });

  it('rejects where the stream cannot be had, creates nothing, and has one the next time', async () => {
    let isAway = true;
    const scene = new Scene((request) => (isStream(request) && isAway ? lost() : undefined));
    const box = hostEnv({ name: 'mill', tools: [] });
    await expect(scene.brain.sessions.create({ environments: [box] })).rejects.toMatchObject({ name: 'BrainConnectionError' });
    expect(scene.lines).not.toContain('POST /v1/sessions');

    isAway = false;
    const creating = scene.brain.sessions.create({ environments: [box] });
    await scene.clock.advance(ANY_PAUSE_MS);
    expect((await creating).id).toBe(SESSION.session_id);
  });

  it('is let go of by its signal, and by the close of the client', async () => {
    const scene = new Scene((request) => (isStream(request) ? never() : undefined));
    const leaving = new AbortController();
    const box = hostEnv({ name: 'mill', tools: [] });
    const one = scene.brain.sessions.create({ environments: [box] }, { signal: leaving.signal });
    const other = scene.brain.sessions.create({ environments: [box] });
    await quiescence();
    leaving.abort();
    await expect(one).rejects.toMatchObject({ name: 'AbortError' });
    await scene.brain.close();
    await expect(other).rejects.toMatchObject({ name: 'BrainClosedError' });
    await quiescence();
    expect(scene.clock.timerCount).toBe(0);
  });
});

describe('a command', () => {
  it('is carried out once, however often it is told: while it runs, after it ended, and over another connection', async () => {
    const scene = await new Scene().serve();
    const running = gate();
    scene.run = () => running.opened.then(() => 'done');
    await scene.tell(command(), command());
    scene.streams[0]?.fail();
    await scene.clock.advance(ANY_PAUSE_MS);
    await scene.tell(command());
    expect([scene.streams.length, scene.results]).toEqual([2, []]);
    running.open();
    await quiescence();
    await scene.tell(command());

    expect(scene.calls).toHaveLength(1);
    // It was answered, and is answered again when it is told again.
    expect(scene.results).toEqual([DONE, DONE]);
  });

  it('is answered by what is known where its receipt is too old to be kept', async () => {
    const scene = await new Scene().serve();
    scene.run = () => 'x'.repeat(3 * 1024 * 1024);
    await scene.tell(command(7));
    await scene.tell(command(8));
    await scene.tell(command(7));

    expect(scene.calls).toHaveLength(2);
    expect(scene.results.at(-1)).toMatchObject({ ...NAMED, receipt: { type: 'unknown' } });
  });

  it('has its result posted until that is taken: through lost answers, a server that is away, and one that is draining', async () => {
    let posts = 0;
    const scene = await new Scene((request) => {
      if (!isResult(request)) return undefined;
      posts += 1;
      if (posts === 1) return lost();
      return posts === 2 ? refusal('draining', 503, { retryable: true }) : posts === 3 ? new Response('bad gateway', { status: 502 }) : undefined;
    }).serve();
    await scene.tell(command());
    await scene.clock.advance(60_000);

    expect(scene.results).toEqual([DONE, DONE, DONE, DONE]);
    expect([scene.calls.length, scene.errors]).toEqual([1, []]);
  });

  it('has its result posted again where the answer is swallowed, after as long as any silence lasts', async () => {
    let isSwallowed = true;
    const scene = await new Scene((request) => (isResult(request) && isSwallowed ? never() : undefined)).serve();
    await scene.tell(command());
    isSwallowed = false;
    expect(scene.results).toEqual([DONE]);
    await scene.clock.advance(SILENCE_MS + ANY_PAUSE_MS);

    expect([scene.results, scene.calls.length, scene.errors]).toEqual([[DONE, DONE], 1, []]);
  });

  it('is left alone once Brain says that it is over', async () => {
    const scene = await new Scene((request) => (isResult(request) ? refusal('already_closed', 409) : undefined)).serve();
    await scene.tell(command());
    await scene.clock.advance(60_000);

    expect([scene.results, scene.errors]).toEqual([[DONE], []]);
  });

  it('is answered by a failure where its result is not taken, and an error is told where that is not taken either', async () => {
    const scene = await new Scene((request) => (isResult(request) ? refusal('too_large', 413) : undefined)).serve();
    await scene.tell(command());

    expect(scene.results).toEqual([DONE, { ...NAMED, receipt: { type: 'failure', code: 'result_refused', retryable: false, message: expect.stringContaining('too_large') } }]);
    expect(scene.errors).toMatchObject([{ code: 'too_large' }]);
  });

  it('S-213: hears of its cancel, and what it says then is reported', async () => {
    const scene = await new Scene().serve();
    let signal: AbortSignal | undefined;
    scene.run = (_, context) => {
      signal = context.signal;
      return new Promise((_resolve, reject) => context.signal.addEventListener('abort', () => reject(new Error('stopped'))));
    };
    await scene.tell(command());
    expect(signal?.aborted).toBe(false);
    await scene.tell(cancel());

    expect(signal?.aborted).toBe(true);
    expect(scene.results).toEqual([{ ...NAMED, receipt: { type: 'failure', code: 'tool_failed', message: 'stopped', retryable: false } }]);
  });

  it('that never came here is not begun after its cancel, which is answered', async () => {
    const scene = await new Scene().serve();
    await scene.tell(cancel(), command());

    expect(scene.calls).toEqual([]);
    expect(scene.results).toMatchObject([{ ...NAMED, receipt: { type: 'failure', code: 'not_started' } }]);
  });

  it('for a tool, an environment or a purpose that is not known here has failed', async () => {
    const scene = await new Scene().serve();
    await scene.tell(command(7, { type: 'invoke', tool: 'saw', input: {} }), command(8, { type: 'paint' }), command(9).replace('"mill"', '"forge"'));

    expect(scene.results).toMatchObject([{ receipt: { code: 'unknown_tool' } }, { receipt: { code: 'unknown_operation' } }, { receipt: { code: 'unknown_environment' } }].toSorted());
  });
});

describe('the stream of a host', () => {
  it('is given up for another when no byte comes, and keepalives are bytes', async () => {
    const scene = await new Scene().serve();
    await scene.clock.advance(SILENCE_MS - 1_000);
    await scene.tell(': keepalive\n\n');
    await scene.clock.advance(SILENCE_MS - 1_000);
    expect(scene.streams).toHaveLength(1);
    await scene.clock.advance(1_000 + ANY_PAUSE_MS);

    expect(scene.streams).toHaveLength(2);
    await scene.tell(command());
    expect(scene.results).toEqual([DONE]);
  });

  it('does not run in a circle where every connection ends at once, and is back soon after the server is', async () => {
    let isAway = false;
    const scene = await new Scene((request) => (isStream(request) && isAway ? lost() : undefined)).serve();
    isAway = true;
    scene.streams[0]?.fail();
    await scene.clock.advance(60_000);
    const tries = scene.lines.filter((line) => line.endsWith('/commands')).length;
    isAway = false;
    await scene.clock.advance(ANY_PAUSE_MS);

    expect(tries).toBeGreaterThan(10);
    expect(tries).toBeLessThan(50);
    expect(scene.streams).toHaveLength(2);
  });

  it('is opened with another token when the one it had counts no more', async () => {
    let isKnown = true;
    const scene = await new Scene((request) => (isStream(request) && !isKnown ? ((isKnown = true), refusal('unauthorized', 401)) : undefined)).serve();
    isKnown = false;
    scene.streams[0]?.end();
    await scene.clock.advance(2 * ANY_PAUSE_MS);

    expect(scene.lines.filter((line) => line === 'POST /v1/hosts')).toHaveLength(2);
    const incarnations = scene.network.sent.filter(({ path }) => path === '/v1/hosts').map(({ body }) => JSON.stringify(body));
    expect(new Set(incarnations).size).toBe(1);
    expect([scene.streams.length, scene.errors]).toEqual([2, []]);
  });

  it('is registered for again where the answer to that is swallowed', async () => {
    let isRefused = false;
    let isSwallowed = false;
    const scene = await new Scene((request) => {
      if (isStream(request) && isRefused) return refusal('unauthorized', 401);
      return request.path === '/v1/hosts' && isSwallowed ? never() : undefined;
    }).serve();
    isRefused = true;
    isSwallowed = true;
    scene.streams[0]?.end();
    await scene.clock.advance(2 * ANY_PAUSE_MS);
    expect(scene.lines.at(-1)).toBe('POST /v1/hosts');
    isRefused = false;
    isSwallowed = false;
    await scene.clock.advance(SILENCE_MS + 2 * ANY_PAUSE_MS);

    expect([scene.streams.length, scene.errors]).toEqual([2, []]);
  });

  it('is over, with one error, when another process has the name: what runs is told, and nothing is registered again', async () => {
    let isTaken = false;
    const scene = await new Scene((request) => (isTaken ? refusal('conflict', 409) : (void request, undefined))).serve();
    let signal: AbortSignal | undefined;
    scene.run = (_, context) => new Promise(() => void (signal = context.signal));
    await scene.tell(command());
    isTaken = true;
    scene.streams[0]?.end();
    await scene.clock.advance(10 * ANY_PAUSE_MS);

    expect(scene.errors).toMatchObject([{ name: 'BrainHostLostError', host: 'mill' }]);
    expect(signal?.aborted).toBe(true);
    expect(scene.lines.filter((line) => line === 'POST /v1/hosts')).toHaveLength(1);
    expect(scene.lines.filter((line) => line.endsWith('/commands'))).toHaveLength(2);
  });

  it('has nothing of a secret in an error', async () => {
    const scene = await new Scene((request) => (isResult(request) ? refusal('too_large', 413) : undefined)).serve();
    await scene.tell(command());

    expect(scene.errors.map((error) => `${error.message} ${JSON.stringify(error)}`).join()).not.toContain('the-token');
  });

  it('has nothing of a secret in the error of a network that says all that it sent', async () => {
    const serving = new Scene((request) => (isStream(request) ? Promise.reject(new Error(`lost: ${String(request.headers.get('Authorization'))}`)) : undefined)).serve();

    await expect(serving).rejects.toThrow('what it said holds the key');
  });
});

describe('a tool server with the token of a host', () => {
  it('uses that token alone, serves every environment of the host, and ends when the token counts no more', async () => {
    let counts = true;
    const scene = new Scene(() => (counts ? undefined : refusal('unauthorized', 401)));
    const served = await serveTools({ host: 'mill', hostToken: 'given', tools: [scene.tool], fetch: scene.network.fetch, clock: scene.clock, onError: (error) => void scene.errors.push(error) });
    await scene.tell(command(), command(8, { type: 'setup', configuration: {} }));
    expect(scene.results).toEqual(expect.arrayContaining([DONE, { ...NAMED, sequence: 8, receipt: { type: 'accepted' } }]));
    counts = false;
    scene.streams[0]?.end();
    await scene.clock.advance(10 * ANY_PAUSE_MS);

    expect(scene.errors).toMatchObject([{ code: 'unauthorized' }]);
    expect(new Set(scene.network.sent.map(({ headers }) => headers.get('Authorization')))).toEqual(new Set(['Bearer given']));
    await served.close();
    expect(scene.clock.timerCount).toBe(0);
  });

  it('rejects at once where the token is refused', async () => {
    const network = new ScriptedFetch(() => refusal('unauthorized', 401));
    const errors: Error[] = [];
    await expect(serveTools({ host: 'mill', hostToken: 'given', tools: [], fetch: network.fetch, clock: new SimulatedClock(), onError: (error) => void errors.push(error) })).rejects.toMatchObject({ code: 'unauthorized' });
    expect(network.lines).toEqual(['GET /v1/hosts/mill/commands']);
  });
});

describe('the type of an input', () => {
  it('is told by any schema that says itself, and refused where none of it does', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } } };
    const standard = { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) };
    const common = { name: 'grind', description: 'Grinds.', run: () => null };

    expect(tool({ ...common, input: { schema, parse: (value) => value } }).inputSchema).toEqual(schema);
    expect(tool({ ...common, input: schema }).inputSchema).toEqual(schema);
    expect(tool({ ...common, input: { '~standard': { ...standard, jsonSchema: { input: () => schema } } } }).inputSchema).toEqual(schema);
    expect(tool({ ...common, input: Object.assign({ '~standard': standard }, { toJSONSchema: () => schema }) }).inputSchema).toEqual(schema);
    expect(() => tool({ ...common, input: { '~standard': standard } })).toThrow(/grind has no JSON Schema/);
  });
});
