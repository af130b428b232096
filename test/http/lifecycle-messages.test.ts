/** Messages on `/sessions` over real services: what is accepted, their keys, and the queue in which they wait. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DescribedServer } from '../support/described-server.ts';
import { DescribedSession, type LifecycleEvent } from '../support/described-session.ts';
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

describe('a message', () => {
  it('L-035, L-036, L-037, L-041, L-070, L-071: is answered 202 with its event as saved, and all of its turn bears its id', async () => {
    const event = await stage.accepted('Summarize our plan.', 'msg-0001');
    expect(event).toMatchObject({ id: '3.0', type: 'user.message', session_id: stage.id, input_id: '3.0', text: 'Summarize our plan.', key: 'msg-0001' });
    await stage.atRest();

    const all = await stage.events();
    expect(all[0]).toEqual(event);
    expect(await stage.told()).toEqual([
      ['user.message', 'Summarize our plan.', '3.0'],
      ['session.status', 'running', '3.0'],
      ['assistant.message', 'hello', '3.0'],
      ['session.status', 'idle', '3.0'],
    ]);
    expect(stage.model.calls.all[0]?.request.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Summarize our plan.' }] }]);
  });

  it.each([
    ['no body', undefined, ''],
    ['no type', { text: 'x' }, '/type'],
    ['another type', { type: 'assistant.message', text: 'x' }, '/type'],
    ['no text', { type: 'user.message' }, '/text'],
    ['empty text', { type: 'user.message', text: '' }, '/text'],
    ['text that is none', { type: 'user.message', text: ['x'] }, '/text'],
    ['text with NUL', '{"type":"user.message","text":"a\\u0000"}', '/text'],
    ['text with half of a pair', '{"type":"user.message","text":"\\ud83e"}', '/text'],
    ['a field that is none', { type: 'user.message', text: 'x', input: 'y' }, '/input'],
    ['an id of its own', { type: 'user.message', text: 'x', id: '3.0' }, '/id'],
  ])('is refused with %s, and nothing is recorded', async (_, body, field) => {
    const before = await stage.server.living.journal(stage.id);
    const answer = await stage.post(body);
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
    expect(answer.body).toMatchObject({ error: { details: { field } } });
    expect(await stage.server.living.journal(stage.id)).toEqual(before);
  });

  it('L-043, L-044, L-045, L-051, L-072, L-073: waits in order, sixteen beside the one that runs; the next is 429, and its key stays free', async () => {
    await stage.running('0');
    const burst = await Promise.all(Array.from({ length: 17 }, (_, at) => stage.say(`${at + 1}`, `k${at + 1}`)));
    const refused = burst.filter((answer) => answer.status !== 202);

    expect(refused.map((answer) => [answer.status, answer.code, answer.headers.get('retry-after')])).toEqual([[429, 'queue_full', '1']]);
    const [last = -1] = burst.flatMap((answer, at) => (answer.status === 202 ? [] : [at + 1]));
    expect((await stage.waiting()).map(({ text }) => text)).toEqual(Array.from({ length: 17 }, (_, at) => `${at + 1}`).filter((text) => text !== String(last)));

    stage.model.script = (call) => saying(`answer to ${JSON.stringify(call.request.messages.at(-1)).replaceAll(/\D/g, '')}`);
    stage.model.calls.all[0]?.answer(saying('answer to 0'));
    await stage.atRest();
    const again = await stage.accepted(String(last), `k${last}`);
    await stage.atRest();

    const turns = (await stage.told()).filter(([type]) => type === 'session.status').map(([, value, input]) => `${String(value)} ${String(input)}`);
    const inputs = (await stage.events()).filter(({ type }) => type === 'user.message').map((event) => event.id);
    expect(inputs.at(-1)).toBe(again.id);
    // No idle between two turns, but after the last that waited and after the one that was sent again.
    expect(turns).toEqual([...inputs.slice(0, 17).map((input) => `running ${input}`), `idle ${inputs[16]}`, `running ${again.id}`, `idle ${again.id}`]);
    expect(await stage.waiting()).toEqual([]);
  });

  it('L-050: is refused by a session that holds, and its key stays free', async () => {
    await stage.running();
    await stage.interrupt();
    await stage.atRest();
    const answer = await stage.say('next', 'k');
    expect([answer.status, answer.code]).toEqual([409, 'must_resume']);

    await stage.verb('resume');
    expect((await stage.say('another', 'k')).status).toBe(202);
  });

  it('L-050: is refused while a turn is being stopped, and its key stays free', async () => {
    stage.model.script = () => 'deaf';
    await stage.accepted('first');
    const call = await stage.model.calls.at(0);
    await stage.interrupt();
    const answer = await stage.say('next', 'k');
    expect([answer.status, answer.code]).toEqual([409, 'session_busy']);

    call.answer(saying('too late'));
    await stage.atRest();
    await stage.verb('resume');
    expect((await stage.say('another', 'k')).status).toBe(202);
  });

  it('L-103: is told in the refusal of a held session what resuming takes', async () => {
    await stage.running();
    await stage.interrupt();
    await stage.atRest();
    const answer = await stage.say('next');
    expect(answer.body).toMatchObject({ error: { code: 'must_resume', message: expect.stringMatching(/resume.*manage/) as string } });
  });

  it('L-042: of either surface is refused or waits while a turn of the other runs', async () => {
    await stage.running();
    expect((await stage.server.send('POST', `/v1/sessions/${stage.id}/messages`, { body: { input: 'x' } })).code).toBe('session_busy');
    await stage.accepted('second');
    expect((await stage.server.living.types(stage.id)).filter((type) => type === 'turn_started')).toHaveLength(1);
  });
});

describe('a key of a message', () => {
  it('L-046, L-047, L-048: sent again with the same text gets the original event, whatever the session is at by then', async () => {
    const first = await stage.running('first');
    const keyed = await stage.accepted('second', 'k');
    const again = async (): Promise<void> => {
      const records = (await stage.server.living.journal(stage.id)).length;
      expect(await stage.accepted('second', 'k')).toEqual(keyed);
      expect(await stage.server.living.journal(stage.id)).toHaveLength(records);
    };
    await again();
    for (let more = 0; more < 15; more += 1) await stage.accepted('more');
    expect((await stage.say('one too many', 'other')).code).toBe('queue_full');
    await again();
    await stage.interrupt();
    await stage.atRest();
    await again();
    await stage.verb('resume');
    await again();
    await stage.server.living.brain.drain(null);
    await again();
    expect((await stage.say('new', 'n')).code).toBe('draining');
    await stage.verb('close');
    await again();
    expect(first.id).not.toBe(keyed.id);
  });

  it('L-049: with another text is 409 conflict, in every state, and changes nothing', async () => {
    await stage.running();
    await stage.accepted('second', 'k');
    const refused = async (): Promise<void> => {
      const before = await stage.server.living.journal(stage.id);
      const answer = await stage.say('second!', 'k');
      expect([answer.status, answer.code]).toEqual([409, 'conflict']);
      expect(await stage.server.living.journal(stage.id)).toEqual(before);
    };
    await refused();
    await stage.interrupt();
    await stage.atRest();
    await refused();
    await stage.verb('close');
    await refused();
  });

  it('L-052, L-053: holds after a restart, and for as long as the session is there', async () => {
    const event = await stage.accepted('hello', 'k');
    await stage.atRest();
    await stage.restart();
    await stage.server.living.clock.advance(1000 * 60 * 60 * 1000);
    expect(await stage.accepted('hello', 'k')).toEqual(event);
    expect((await stage.say('other', 'k')).code).toBe('conflict');
  });

  it('is the same message in another order, white space and escapes', async () => {
    const event = (await stage.post('{"type":"user.message","text":"é\\"/","key":"k"}')).body;
    for (const text of ['{"key":"k","text":"é\\"/","type":"user.message"}', '\n{ "type" :\t"user.message" , "text":"\\u00e9\\u0022\\/", "key":"\\u006b" }\r\n']) {
      expect((await stage.post(text)).body).toEqual(event);
    }
  });

  it('of a hundred sends at once makes one message, and all of them get it', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => stage.say('hello', 'k')));
    await stage.atRest();
    expect(new Set(answers.map((answer) => `${answer.status} ${JSON.stringify(answer.body)}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(202);
    expect((await stage.server.living.types(stage.id)).filter((type) => type === 'message_queued')).toHaveLength(1);
  });

  it('of a hundred sends at once with as many texts takes one, and refuses the others', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => stage.say(`hello ${at}`, 'k')));
    expect(answers.filter((answer) => answer.status === 202)).toHaveLength(1);
    expect(answers.filter((answer) => answer.code === 'conflict')).toHaveLength(99);
  });

  it.each(['k', 'k'.repeat(256), '🦀'.repeat(64), '__proto__', 'constructor', '7', ' ', 'a b "c" /../', 'line\nbreak'])('may be %j', async (key) => {
    const event = await stage.accepted('hello', key);
    expect(event.key).toBe(key);
    expect(await stage.accepted('hello', key)).toEqual(event);
  });

  it.each(['', 'k'.repeat(257), '🦀'.repeat(65), 7, null, ['k'], { k: 1 }, true])('may not be %j', async (key) => {
    const answer = await stage.say('hello', key);
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
    expect(answer.body).toMatchObject({ error: { details: { field: '/key' } } });
  });

  it.each(['"a\\u0000b"', '"\\ud83e"'])('may not be %s', async (key) => {
    const answer = await stage.post(`{"type":"user.message","text":"x","key":${key}}`);
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
  });

  it('belongs to its session, and is no Idempotency-Key', async () => {
    const other = await stage.created();
    await stage.accepted('hello', 'k');
    const elsewhere = await stage.post({ type: 'user.message', text: 'other', key: 'k' }, other);
    expect(elsewhere.status).toBe(202);
    await stage.atRest();
    const headers = { 'idempotency-key': 'k' };
    const body = { type: 'user.message', text: 'twice' };
    const twice = [await stage.server.send('POST', `/sessions/${stage.id}/events`, { body, headers }), await stage.server.send('POST', `/sessions/${stage.id}/events`, { body, headers })];
    expect(twice.map((answer) => answer.status)).toEqual([202, 202]);
    expect(new Set(twice.map((answer) => (answer.body as LifecycleEvent).id)).size).toBe(2);
  });
});

describe('a cursor of another session', () => {
  it('L-058: is a place in this one, or none: no event of the other is told', async () => {
    await stage.accepted('mine');
    await stage.atRest();
    const other = await stage.created();
    for (const text of ['theirs', 'theirs', 'theirs']) {
      await stage.post({ type: 'user.message', text }, other);
      await stage.atRest(other);
    }
    const mine = await stage.events();
    const statuses = new Set<number>();
    for (const { id: cursor } of await stage.events(other)) {
      const answer = await stage.server.send('GET', `/sessions/${stage.id}/events?after=${cursor}`);
      statuses.add(answer.status);
      if (answer.status === 200) expect(mine).toEqual(expect.arrayContaining([...(answer.body as { readonly events: readonly unknown[] }).events]));
      else expect(answer.code).toBe('invalid_cursor');
    }
    expect(statuses).toEqual(new Set([200, 400]));
  });
});

describe('the queue', () => {
  it('shows what waits, and gives back what is withdrawn: it is told so, and never run', async () => {
    const first = await stage.running();
    const second = await stage.accepted('second', 'k');
    const third = await stage.accepted('third');
    expect(await stage.waiting()).toMatchObject([{ input_id: second.id, text: 'second' }, { input_id: third.id, text: 'third' }]);

    expect((await stage.server.send('DELETE', `/sessions/${stage.id}/queue/${second.id}`)).status).toBe(204);
    expect((await stage.waiting()).map(({ text }) => text)).toEqual(['third']);
    expect((await stage.told()).at(-1)).toEqual(['session.error', 'withdrawn', second.id]);
    // Withdrawn or not, the key stands for the message that was accepted.
    expect(await stage.accepted('second', 'k')).toEqual(second);

    stage.model.script = () => saying('hello');
    stage.model.calls.all[0]?.answer(saying('hello'));
    await stage.atRest();
    expect((await stage.told()).filter(([, what]) => what === 'running').map(([, , input]) => input)).toEqual([first.id, third.id]);
  });

  it('has nothing to withdraw where a message has started, was withdrawn, was not run, or is none', async () => {
    const first = await stage.running();
    const second = await stage.accepted('second');
    const third = await stage.accepted('third');
    const withdraw = async (input: string): Promise<readonly unknown[]> => {
      const answer = await stage.server.send('DELETE', `/sessions/${stage.id}/queue/${input}`);
      return [answer.status, answer.code];
    };
    expect(await withdraw(first.id)).toEqual([409, 'already_started']);
    expect(await withdraw(second.id)).toEqual([204, undefined]);
    expect(await withdraw(second.id)).toEqual([404, 'not_found']);
    await stage.interrupt();
    await stage.atRest();
    expect(await withdraw(third.id)).toEqual([404, 'not_found']);
    expect(await withdraw(first.id)).toEqual([409, 'already_started']);
    for (const none of ['1.0', '0.0', '3.1', '3', 'x', '99.0', '-1.0', '9007199254740993.0', '03.0', '%00', 'a'.repeat(3000)]) {
      expect([none, await withdraw(none)]).toEqual([none, [404, 'not_found']]);
    }
  });

  it('gives room where a message is withdrawn', async () => {
    await stage.running();
    for (let at = 0; at < 16; at += 1) await stage.accepted(`m${at}`);
    expect((await stage.say('more')).code).toBe('queue_full');
    const [first] = await stage.waiting();
    await stage.server.send('DELETE', `/sessions/${stage.id}/queue/${first?.input_id ?? ''}`);
    await stage.accepted('more');
  });
});

