/** A send with a signal: what is cancelled, when, and what the caller waits for. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Brain, BrainAbortError, type Session } from '../../client/index.ts';
import type { Fetch } from '../../client/ports.ts';
import { gate } from '../support/gate.ts';
import { eventually } from '../support/eventually.ts';
import { LivingServer } from '../support/living-server.ts';
import { saying, ScriptedModel } from '../support/scripted-model.ts';

type Wire = (send: () => Promise<Response>, request: string) => Promise<Response>;

let server: LivingServer;
let wire: Wire;
let asked: string[];

/** To the server, through what the test puts in between. */
const throughWire: Fetch = (url, init) => {
  const request = `${init.method ?? 'GET'} ${/[^/?]+(?=\?|$)/.exec(url)?.[0] ?? ''}`;
  asked.push(request);
  return wire(() => fetch(url, init), request);
};

beforeEach(async () => {
  server = await LivingServer.open({ model: new ScriptedModel(() => 'waits') });
  wire = (send) => send();
  asked = [];
});

afterEach(async () => {
  await server.close();
});

async function fresh(): Promise<Session> {
  const session = await new Brain({ baseUrl: server.url, fetch: throughWire }).sessions.create({ tools: [] });
  asked = [];
  return session;
}

function isCancelled(id: string): Promise<boolean> {
  return server.living.types(id).then((types) => types.includes('turn_cancel_requested'));
}

describe('a send with a signal', () => {
  it('S-224: passes the signal of a host tool on: the turn of the child is cancelled with the call', async () => {
    const context = new AbortController();
    const child = await fresh();
    const sending = child.send('look', { signal: context.signal });
    const call = await server.living.model.calls.at(0);

    context.abort('the call is cancelled');

    const failure = await sending.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BrainAbortError);
    expect(failure).toMatchObject({ name: 'AbortError', cause: 'the call is cancelled', turn: { outcome: 'failed', error: { code: 'cancelled' } } });
    expect(call.signal.aborted).toBe(true);
    expect((await child.refresh()).running_turn).toBeNull();
  });

  it('sends nothing where the signal is aborted already', async () => {
    const session = await fresh();

    await expect(session.send('hello', { signal: AbortSignal.abort('no') })).rejects.toMatchObject({ name: 'AbortError', cause: 'no' });
    expect(asked).toEqual([]);
  });

  it('S-226: waits until the message is admitted before it cancels, however early the signal came', async () => {
    const onTheWay = gate();
    wire = async (send, request) => {
      if (request === 'POST messages') await onTheWay.opened;
      return send();
    };
    const session = await fresh();
    const controller = new AbortController();
    const sending = session.send('hello', { signal: controller.signal }).catch((error: unknown) => error);
    controller.abort();
    // It looks, and looks again.
    await eventually(async () => (asked.filter((request) => request === 'GET events').length > 4 ? true : undefined), 'looks at the journal');
    expect(asked).not.toContain('POST cancel');

    onTheWay.open();

    expect(await sending).toMatchObject({ name: 'AbortError', turn: { error: { code: 'cancelled' } } });
    expect(asked.filter((request) => request === 'POST cancel')).toHaveLength(1);
    expect(await isCancelled(session.id)).toBe(true);
  });

  it('S-227: waits for the answer to its cancel, and for the end of the turn', async () => {
    const answered = gate();
    const cancelled = gate();
    wire = async (send, request) => {
      const response = await send();
      if (request === 'POST cancel') {
        cancelled.open();
        await answered.opened;
      }
      return response;
    };
    const session = await fresh();
    const controller = new AbortController();
    let isOver = false;
    const sending = session.send('hello', { signal: controller.signal }).catch((error: unknown) => error).finally(() => (isOver = true));
    await server.living.model.calls.at(0);
    controller.abort();
    await cancelled.opened;
    await eventually(async () => ((await server.living.types(session.id)).includes('turn_failed') ? true : undefined), 'the end of the turn');
    await server.living.atRest(session.id);
    expect(isOver).toBe(false);

    answered.open();

    expect(await sending).toMatchObject({ name: 'AbortError' });
  });

  it('S-227: repeats a cancel that the network lost, under its key, and waits for that', async () => {
    let lostOnes = 2;
    wire = async (send, request) => {
      if (request === 'POST cancel' && lostOnes > 0) {
        lostOnes -= 1;
        throw new TypeError('fetch failed');
      }
      return send();
    };
    const session = await fresh();
    const controller = new AbortController();
    const sending = session.send('hello', { signal: controller.signal });
    await server.living.model.calls.at(0);
    controller.abort();

    await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
    expect(lostOnes).toBe(0);
  });

  it('cancels a turn whose answer the network lost, and waits for its end', async () => {
    const lostAnswer = gate();
    wire = async (send, request) => {
      if (request !== 'POST messages') return send();
      void send().catch(() => undefined);
      await lostAnswer.opened;
      throw new TypeError('fetch failed');
    };
    const session = await fresh();
    const controller = new AbortController();
    const sending = session.send('hello', { signal: controller.signal });
    await server.living.model.calls.at(0);
    controller.abort();
    lostAnswer.open();

    await expect(sending).rejects.toMatchObject({ name: 'AbortError', idempotencyKey: expect.any(String) });
    expect((await session.refresh()).running_turn).toBeNull();
  });

  it('gives the answer of a turn that was over before the cancel', async () => {
    wire = async (send, request) => {
      if (request === 'POST cancel') {
        (await server.living.model.calls.at(0)).answer(saying('done'));
        await server.living.atRest(session.id);
      }
      return send();
    };
    const session = await fresh();
    const controller = new AbortController();
    const sending = session.send('hello', { signal: controller.signal });
    await server.living.model.calls.at(0);
    controller.abort();

    expect((await sending).result?.text).toBe('done');
    expect(await isCancelled(session.id)).toBe(false);
  });

  it('does not cancel what was refused: a turn that runs is another one', async () => {
    const session = await fresh();
    await (await new Brain(server.url).sessions.get(session.id)).submit('of somebody else');
    await server.living.model.calls.at(0);
    const refused = gate();
    wire = async (send, request) => {
      const response = await send();
      if (request === 'POST messages') await refused.opened;
      return response;
    };
    const controller = new AbortController();
    const sending = session.send('hello', { signal: controller.signal });
    controller.abort();
    await eventually(async () => (asked.filter((request) => request === 'GET events').length > 2 ? true : undefined), 'looks at the journal');
    refused.open();

    await expect(sending).rejects.toMatchObject({ code: 'session_busy' });
    expect(await isCancelled(session.id)).toBe(false);
  });

  it('cancels the message that it sent, in blocks too', async () => {
    const session = await fresh();
    const controller = new AbortController();
    const sending = session.send([{ text: 'hello', type: 'text' }], { signal: controller.signal });
    await server.living.model.calls.at(0);
    controller.abort();

    await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
  });
});
