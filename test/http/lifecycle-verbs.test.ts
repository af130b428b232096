/** The verbs of `/sessions` over real services: interrupt, resume and close, with their keys, and beside those of `/v1`. */
import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DescribedServer, type Answer } from '../support/described-server.ts';
import { DescribedSession } from '../support/described-session.ts';
import { TENANT } from '../support/living-brain.ts';
import type { OpenApiDocument } from '../support/openapi-document.ts';
import { saying } from '../support/scripted-model.ts';

let document: OpenApiDocument;
let stage: DescribedSession;

beforeAll(async () => {
  document = await DescribedServer.document();
});

beforeEach(async () => {
  stage = await DescribedSession.open(document);
});

afterEach(async () => {
  await stage.close();
});

describe('an interrupt', () => {
  it('L-074, L-075, L-076, L-083, L-084, L-087, L-088, L-089, L-090, L-091: stops the turn and what waits, as conflicts, and the session is interrupted', async () => {
    const first = await stage.running();
    const second = await stage.accepted('second');
    const third = await stage.accepted('third');
    await stage.interrupt();
    await stage.atRest();

    expect(stage.model.calls.all[0]?.signal.aborted).toBe(true);
    const after = (await stage.told()).slice(4);
    expect(after).toEqual([
      ['session.error', 'conflict', second.id],
      ['session.error', 'conflict', third.id],
      ['session.error', 'conflict', first.id],
      ['session.status', 'interrupted', first.id],
    ]);
    expect(await stage.status()).toBe('interrupted');
    expect(await stage.waiting()).toEqual([]);
    expect(stage.model.calls.all).toHaveLength(1);
  });

  it('L-085: changes nothing where no turn runs, in any state, and does not reach the next turn', async () => {
    const unmoved = async (): Promise<void> => {
      const before = await stage.server.living.journal(stage.id);
      await stage.interrupt();
      await stage.interrupt();
      expect(await stage.server.living.journal(stage.id)).toEqual(before);
    };
    await unmoved();
    await stage.accepted('hello');
    await stage.atRest();
    expect(await stage.status()).toBe('idle');
    await unmoved();
    await stage.running();
    await stage.interrupt();
    await stage.atRest();
    await unmoved();
    await stage.verb('close');
    await unmoved();
  });

  it.each(['reason', 'text', 'key', 'input_id', 'force'])('L-092: is refused with the field %s', async (field) => {
    await stage.running();
    const answer = await stage.post({ type: 'user.interrupt', [field]: 'x' });
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
    expect(answer.body).toMatchObject({ error: { details: { field: `/${field}` } } });
    expect(await stage.status()).toBe('running');
  });
});

describe('a resume', () => {
  it('L-093, L-097, L-098, L-099, L-100, L-101, L-104, L-107: frees the session, tells so without an input, and calls nothing', async () => {
    await stage.accepted('remember me');
    await stage.atRest();
    await stage.running('forget me');
    await stage.interrupt();
    await stage.atRest();
    const before = await stage.events();

    const answer = await stage.verb('resume');
    expect([answer.status, answer.body]).toMatchObject([200, { id: stage.id, status: 'idle' }]);
    await stage.atRest();
    const after = await stage.events();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length).map(({ type, status: now, input_id }) => [type, now, input_id])).toEqual([['session.status', 'idle', undefined]]);
    expect(stage.model.calls.all).toHaveLength(2);

    stage.model.script = () => saying('hello');
    await stage.accepted('and now?');
    await stage.atRest();
    const said = JSON.stringify(stage.model.calls.all.at(-1)?.request.messages);
    expect([said.includes('remember me'), said.includes('forget me'), said.includes('and now?')]).toEqual([true, false, true]);
  });

  it('L-094: frees a failed session', async () => {
    stage.model.script = () => ({ outcome: 'failed', code: 'model_error', message: 'no' });
    const { id: input } = await stage.accepted('hello');
    await stage.atRest();
    expect((await stage.told()).slice(2)).toEqual([
      ['session.error', 'model_error', input],
      ['session.status', 'failed', input],
    ]);
    expect(await stage.status()).toBe('failed');
    expect((await stage.verb('resume')).body).toMatchObject({ status: 'idle' });
  });

  it('L-105: of an idle session answers it unchanged', async () => {
    await stage.accepted('hello');
    await stage.atRest();
    const before = await stage.server.living.journal(stage.id);
    const session = (await stage.server.send('GET', `/sessions/${stage.id}`)).body;
    expect((await stage.verb('resume')).body).toEqual(session);
    expect(await stage.server.living.journal(stage.id)).toEqual(before);
  });

  it('L-106: of a running or closed session is 409', async () => {
    await stage.running();
    expect((await stage.verb('resume')).code).toBe('not_resumable');
    await stage.verb('close');
    await stage.atRest();
    const answer = await stage.verb('resume');
    expect([answer.status, answer.code]).toEqual([409, 'not_resumable']);
  });
});

describe('a close', () => {
  async function closed(): Promise<void> {
    const answer = await stage.verb('close');
    expect([answer.status, answer.body]).toEqual([202, { status: 'close_requested' }]);
  }

  it('L-004, L-108, L-110, L-114, L-115: of an idle session closes it at once; its history stays, and messages are 409', async () => {
    await stage.accepted('hello');
    await stage.atRest();
    const before = await stage.events();
    await closed();
    expect(await stage.status()).toBe('closed');
    const after = await stage.events();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length).map(({ type, status: now, input_id }) => [type, now, input_id])).toEqual([['session.status', 'closed', undefined]]);
    const answer = await stage.say('more');
    expect([answer.status, answer.code]).toEqual([409, 'session_ended']);
  });

  it('L-111, L-112: stops the running turn and fails what waits, and shows nothing in between', async () => {
    const first = await stage.running();
    const second = await stage.accepted('second');
    await closed();
    await stage.atRest();
    expect((await stage.told()).slice(3)).toEqual([
      ['session.error', 'conflict', second.id],
      ['session.error', 'conflict', first.id],
      ['session.status', 'closed', first.id],
    ]);
    expect(stage.model.calls.all[0]?.signal.aborted).toBe(true);
  });

  it('is accepted in every state, twice too, and nothing comes after closed', async () => {
    const ids = [stage.id];
    stage.model.script = () => 'waits';
    for (const state of ['running', 'interrupted', 'failed'] as const) {
      const sessionId = await stage.created();
      ids.push(sessionId);
      if (state === 'failed') stage.model.script = () => ({ outcome: 'failed', code: 'model_error', message: 'no' });
      await stage.post({ type: 'user.message', text: 'hello' }, sessionId);
      if (state === 'interrupted') await stage.post({ type: 'user.interrupt' }, sessionId);
      if (state !== 'running') await stage.atRest(sessionId);
      expect(await stage.status(sessionId)).toBe(state);
    }
    for (const sessionId of ids) {
      for (let time = 0; time < 3; time += 1) expect((await stage.verb('close', sessionId)).status).toBe(202);
      await stage.atRest(sessionId);
      expect((await stage.verb('close', sessionId)).status).toBe(202);
      expect(await stage.status(sessionId)).toBe('closed');
      const statuses = (await stage.events(sessionId)).filter(({ type }) => type === 'session.status').map((event) => event.status);
      expect([statuses.filter((one) => one === 'closed'), statuses.at(-1)]).toEqual([['closed'], 'closed']);
    }
  });

  it('L-116: takes nothing down: no environment operation is recorded', async () => {
    await stage.accepted('hello');
    await stage.atRest();
    await closed();
    expect((await stage.server.living.types(stage.id)).filter((type) => type.startsWith('environment_'))).toEqual([]);
  });
});

describe('an Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'k' };
  const body = { harness: 'chat', config: { model: 'demo/echo', temperature: 1 } };

  it('gives a create, a resume, a close and a change of metadata their first answer again', async () => {
    const create = (): Promise<Answer> => stage.server.send('POST', '/sessions', { body, headers });
    const patch = (): Promise<Answer> => stage.server.send('PATCH', `/sessions/${stage.id}`, { body: { metadata: { a: 'b' } }, headers });
    for (const send of [create, patch, () => stage.verb('resume', stage.id, headers), () => stage.verb('close', stage.id, headers)]) {
      const first = await send();
      const again = await send();
      expect([first.status, again.status].every((status) => status < 300)).toBe(true);
      expect([first, again].map((answer) => answer.headers.get('idempotent-replayed'))).toEqual([null, 'true']);
      expect(again.body).toEqual(first.body);
    }
    expect((await stage.server.living.sessions.list(TENANT, { after: '', limit: 10 })).sessions).toHaveLength(2);
    await stage.restart();
    expect((await create()).headers.get('idempotent-replayed')).toBe('true');
    expect((await stage.server.send('POST', '/sessions', { body: { ...body, metadata: { a: 'b' } }, headers })).code).toBe('idempotency_mismatch');
  });

  it('is another one on the other surface', async () => {
    const here = await stage.server.send('POST', '/sessions', { body, headers });
    const there = await stage.server.send('POST', '/v1/sessions', { body: {}, headers });
    expect([here.status, there.status, there.headers.get('idempotent-replayed')]).toEqual([201, 201, null]);
    await stage.server.send('PATCH', `/v1/sessions/${stage.id}`, { body: { metadata: { a: 'b' } }, headers });
    const patched = await stage.server.send('PATCH', `/sessions/${stage.id}`, { body: { metadata: { c: 'd' } }, headers });
    expect([patched.status, patched.headers.get('idempotent-replayed')]).toEqual([200, null]);
  });

  it('of a create that is refused is free', async () => {
    expect((await stage.server.send('POST', '/sessions', { body: { ...body, harness: 'nobody' }, headers })).code).toBe('unknown_harness');
    expect((await stage.server.send('POST', '/sessions', { body, headers })).status).toBe(201);
  });
});

describe('one session that both surfaces drive', () => {
  it('stays one: what each shows is what happened, whatever they are asked at once', async () => {
    stage.model.script = (call) => (JSON.stringify(call.request.messages.at(-1)).includes('wait') ? 'waits' : saying('hello'));
    const ask = {
      message: (sessionId: string) => stage.post({ type: 'user.message', text: 'hello' }, sessionId),
      'a message that waits': (sessionId: string) => stage.post({ type: 'user.message', text: 'wait' }, sessionId),
      interrupt: (sessionId: string) => stage.post({ type: 'user.interrupt' }, sessionId),
      resume: (sessionId: string) => stage.verb('resume', sessionId),
      'v1 submit': (sessionId: string) => stage.server.send('POST', `/v1/sessions/${sessionId}/messages`, { body: { input: 'hello' }, headers: { prefer: 'respond-async' } }),
      'v1 cancel': (sessionId: string) => stage.server.send('POST', `/v1/sessions/${sessionId}/cancel`),
      'v1 resume': (sessionId: string) => stage.server.send('POST', `/v1/sessions/${sessionId}/resume`),
    } satisfies Readonly<Record<string, (sessionId: string) => Promise<Answer>>>;
    const names = Object.keys(ask) as (keyof typeof ask)[];
    const rounds = fc.array(fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(rounds, fc.constantFrom('close', 'end'), async (given, last) => {
        const sessionId = await stage.created();
        for (const round of given) {
          const answers = await Promise.all(round.map((name) => ask[name](sessionId)));
          expect(answers.map((answer) => answer.status).filter((code) => code !== 202 && code !== 200 && code !== 409)).toEqual([]);
          await stage.atRest(sessionId);
        }
        await stage.post({ type: 'user.interrupt' }, sessionId);
        await stage.atRest(sessionId);
        await Promise.all([stage.verb('close', sessionId), last === 'end' ? stage.server.send('POST', `/v1/sessions/${sessionId}/end`) : stage.verb('close', sessionId)]);
        await stage.atRest(sessionId);

        const records = await stage.server.living.journal(sessionId);
        const shown = await stage.events(sessionId);
        const messages = records.filter(({ type }) => type === 'message_queued').map(({ sequence }) => `${sequence}.0`);
        const starts = records.filter(({ type }) => type === 'turn_started').map(({ data }) => `${(data as { readonly message_sequence: number }).message_sequence}.0`);
        expect(shown.filter(({ type }) => type === 'user.message').map((event) => event.id)).toEqual(messages);
        expect(shown.filter((event) => event.status === 'running').map((event) => event.input_id)).toEqual(starts);
        // Each message has its one end: a turn that completed, or an error.
        for (const message of messages) {
          const errors = shown.filter((event) => event.type === 'session.error' && event.input_id === message).length;
          const isEnded = records.some(({ type, data }) => type === 'turn_ended' && `${(data as { readonly message_sequence: number }).message_sequence}.0` === message);
          expect([message, errors + (isEnded ? 1 : 0)]).toEqual([message, 1]);
        }
        expect([await stage.status(sessionId), shown.at(-1)?.status]).toEqual(['closed', 'closed']);
        expect((await stage.server.send('GET', `/v1/sessions/${sessionId}`)).body).toMatchObject({ status: 'ended' });
      }),
      { numRuns: 15 },
    );
  });
});
