/** The commands by which the lifecycle surface is explained, run with curl against the built server as they are printed. */
import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { OpenAiServer, says, silence, type ModelScript } from '../support/openai-server.ts';
import { ServerProcess } from '../support/server-process.ts';

const run = promisify(execFile);
const API_KEY = 'k-of-these-commands-1';

const AUTHORIZATION = '-H "Authorization: Bearer $BRAIN_API_KEY"';
const JSON_TYPE = '-H "Content-Type: application/json"';
const CREATE = String.raw`curl http://127.0.0.1:8080/sessions \
  ${AUTHORIZATION} \
  ${JSON_TYPE} \
  -d '{"harness":"pi","config":{"model":"openai/gpt-4.1-mini","instructions":"Answer in one paragraph.","tools":[]}}'`;
const SEND = String.raw`curl http://127.0.0.1:8080/sessions/SESSION_ID/events \
  ${AUTHORIZATION} \
  ${JSON_TYPE} \
  -d '{"type":"user.message","text":"Summarize our plan.","key":"msg-0001"}'`;
const WATCH = String.raw`curl -N http://127.0.0.1:8080/sessions/SESSION_ID/events \
  ${AUTHORIZATION} \
  -H "Accept: text/event-stream"`;
const INTERRUPT = String.raw`curl http://127.0.0.1:8080/sessions/SESSION_ID/events \
  ${AUTHORIZATION} \
  ${JSON_TYPE} \
  -d '{"type":"user.interrupt"}'`;
const RESUME = String.raw`curl -X POST http://127.0.0.1:8080/sessions/SESSION_ID/resume \
  ${AUTHORIZATION}`;
const CLOSE = String.raw`curl -X POST http://127.0.0.1:8080/sessions/SESSION_ID/close \
  ${AUTHORIZATION}`;

let model: OpenAiServer;
let server: ServerProcess;
let sessionId: string;

beforeEach(async () => {
  model = await OpenAiServer.start(() => says('We plan to test.'));
  server = await ServerProcess.start({ environment: { ...model.environment, BRAIN_API_KEY: API_KEY } });
  sessionId = 'SESSION_ID';
});

afterEach(async () => {
  await server.dispose();
  await model.close();
});

/** Only where the server is and which session it is about are put in; `more` is what is asked of curl itself. */
function placed(command: string, more: string): string {
  return command.replace('http://127.0.0.1:8080', server.url).replace('SESSION_ID', sessionId).replace('curl', `curl ${more}`);
}

const env = { PATH: process.env['PATH'], BRAIN_API_KEY: API_KEY };

async function answered(command: string): Promise<readonly [status: number, body: Record<string, unknown>]> {
  const { stdout } = await run('bash', ['-c', placed(command, String.raw`-sS -w '\n%{http_code}'`)], { env });
  const [body = '', status] = stdout.split(/\n(?=\d+$)/);
  return [Number(status), JSON.parse(body) as Record<string, unknown>];
}

async function status(): Promise<unknown> {
  return (await answered(`curl http://127.0.0.1:8080/sessions/SESSION_ID ${AUTHORIZATION}`))[1]['status'];
}

async function until(wanted: string): Promise<void> {
  await eventually(async () => ((await status()) === wanted ? true : undefined), wanted);
}

describe('the commands as they are printed', () => {
  it.each([
    ['the model that is printed', 'openai/gpt-4.1-mini'],
    ['the demo in its place', 'demo/echo'],
  ])('L-003, L-007, L-034: create, send, watch, interrupt, resume and close, with %s', async (_, name) => {
    const [createdStatus, created] = await answered(CREATE.replace('openai/gpt-4.1-mini', name));
    expect(createdStatus).toBe(201);
    sessionId = String(created['id']);
    const time = expect.stringMatching(/^\d{4}(-\d\d){2}T\d\d(:\d\d){2}Z$/) as string;
    const hex = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
    expect(created).toEqual({
      id: hex,
      harness: 'pi',
      config: { model: name, instructions: 'Answer in one paragraph.', tools: [] },
      status: 'idle',
      created_at: time,
      updated_at: time,
      checkpoint: { id: hex, offset: 0, time },
    });

    const watch = spawn('bash', ['-c', placed(WATCH, '-sS')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => watch.once('close', resolve));
    let shown = '';
    watch.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
    const event = { id: '3.0', type: 'user.message', session_id: sessionId, time, input_id: '3.0', text: 'Summarize our plan.', key: 'msg-0001' };
    expect(await answered(SEND)).toEqual([202, event]);
    expect(await answered(SEND)).toEqual([202, event]);
    await until('idle');
    expect(await answered(INTERRUPT)).toEqual([202, { status: 'interrupt_requested' }]);
    expect(await answered(RESUME)).toMatchObject([200, { id: sessionId, status: 'idle' }]);
    expect(await answered(CLOSE)).toEqual([202, { status: 'close_requested' }]);
    await ended;

    const frames = shown.trimEnd().split('\n\n').filter((frame) => !frame.startsWith('event: assistant.delta'));
    expect(frames.map((frame) => /^event: (\S+)\nid: \d+\.\d+\ndata: \{.*\}$/.exec(frame)?.[1])).toEqual([
      'user.message',
      'session.status',
      'assistant.message',
      'session.status',
      'session.status',
    ]);
    const [, { events }] = await answered(`curl http://127.0.0.1:8080/sessions/SESSION_ID/events ${AUTHORIZATION}`);
    expect(frames.map((frame) => JSON.parse(frame.split('data: ')[1] ?? '') as unknown)).toEqual(events);
  });

  it('L-007: interrupt a turn that runs, resume the session and send again', async () => {
    const answers: ModelScript = (call) => (call.index === 0 ? silence(call) : says('We plan to test.'));
    model.script = answers;
    sessionId = String((await answered(CREATE))[1]['id']);
    expect((await answered(SEND))[0]).toBe(202);
    await model.calls.at(0);
    expect(await answered(INTERRUPT)).toEqual([202, { status: 'interrupt_requested' }]);
    await until('interrupted');
    expect((await answered(SEND.replace('msg-0001', 'msg-0002')))[0]).toBe(409);
    expect(await answered(RESUME)).toMatchObject([200, { status: 'idle' }]);
    expect((await answered(SEND.replace('msg-0001', 'msg-0002')))[0]).toBe(202);
    await until('idle');
    expect(model.calls.all).toHaveLength(2);
  });

  it('are refused without the key', async () => {
    sessionId = String((await answered(CREATE))[1]['id']);
    for (const command of [CREATE, SEND, WATCH, INTERRUPT, RESUME, CLOSE]) {
      expect(await answered(command.replace('$BRAIN_API_KEY', 'wrong'))).toMatchObject([401, { error: { code: 'unauthorized' } }]);
    }
    expect(await status()).toBe('idle');
  });
});

describe('what a create sets', () => {
  it.each(['chat', 'pi'])('reaches the request to the provider: harness %s', async (harness) => {
    const settings = ',"reasoning_effort":"low","max_output_tokens":77,"temperature":0.25';
    const command = CREATE.replace('"pi"', `"${harness}"`).replace(',"tools":[]', settings);
    sessionId = String((await answered(command))[1]['id']);
    await answered(SEND);
    const { request } = await model.calls.at(0);
    expect(request).toMatchObject({ model: 'gpt-4.1-mini', reasoning_effort: 'low', max_tokens: 77, temperature: 0.25 });
    expect(request.messages).toEqual([
      { role: 'system', content: 'Answer in one paragraph.' },
      { role: 'user', content: expect.anything() as unknown },
    ]);
    expect(model.refusals).toEqual([]);
  });
});
