/** Handles of both surfaces on a server that runs. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Brain } from '../../client/index.ts';
import { allOf } from '../support/all-of.ts';
import { LivingServer } from '../support/living-server.ts';
import { saying, ScriptedModel } from '../support/scripted-model.ts';

let server: LivingServer;
let brain: Brain;

beforeEach(async () => {
  server = await LivingServer.open({ model: new ScriptedModel(() => saying('hello')) });
  brain = new Brain(server.url);
});

afterEach(async () => {
  await brain.close();
  await server.close();
});

/** From here on the model waits for the test. */
function hold(): void {
  server.living.model.script = () => 'waits';
}

async function answer(index: number): Promise<void> {
  (await server.living.model.calls.at(index)).answer(saying('done'));
}

describe('a session of /v1', () => {
  it('S-084: submits and has the receipt while the turn runs', async () => {
    hold();
    const session = await brain.sessions.create({ tools: [] });

    const receipt = await session.submit('hello', { idempotencyKey: 'one' });
    const again = await session.submit('hello', { idempotencyKey: 'one' });

    expect(receipt).toEqual({ session_id: session.id, sequence: expect.any(Number) });
    expect(again).toEqual(receipt);
    expect(await server.living.types(session.id)).toContain('turn_started');
    expect((await session.refresh()).status).toBe('running');
    await answer(0);
  });

  it('S-097: is as its own calls last told it, whatever goes on in the background', async () => {
    hold();
    const session = await brain.sessions.create({ tools: [] });
    const other = await brain.sessions.get(session.id);
    const created = session.info;

    await session.submit('hello');
    await server.living.model.calls.at(0);
    await other.refresh();
    expect([other.status, session.status]).toEqual(['running', 'idle']);
    expect(session.info).toBe(created);

    await answer(0);
    await server.living.atRest(session.id);
    expect(other.status).toBe('running');
    expect((await other.refresh()).status).toBe('idle');
    expect(other.status).toBe('idle');
  });

  it('is told by its own sends, and not by a repeat of an old one', async () => {
    const session = await brain.sessions.create({ tools: [] });
    const turn = await session.send('hello', { idempotencyKey: 'one' });
    expect(turn.result?.text).toBe('hello');
    expect(session.info.last_sequence).toBe(turn.last_sequence);

    await session.end();
    await session.send('hello', { idempotencyKey: 'one' });

    expect(session.status).toBe('ended');
  });

  it('S-177: reads what is recorded after a cursor, event by event, to the end of it', async () => {
    const session = await brain.sessions.create({ tools: [] });
    await session.send('hello');

    let cursor = 0;
    const read: number[] = [];
    for await (const event of session.events(cursor)) {
      read.push(event.sequence);
      cursor = event.sequence;
    }

    const shown = (await server.living.sessions.events('local', session.id, { after: 0, limit: 1000 })).items;
    expect(read).toEqual(shown.map(({ sequence }) => sequence));
    expect(await allOf(session.events(cursor))).toEqual([]);
    expect(await allOf(session.events(0, { types: ['turn_ended'] }))).toHaveLength(1);
  });

  it('S-161: gives the conversation with the sequence that it takes account of', async () => {
    const session = await brain.sessions.create({ tools: [] });
    const turn = await session.send('hi');

    const { messages, through_sequence: through } = await session.transcript();

    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(through).toBe(turn.last_sequence);
  });

  it('is interrupted, and free for another turn', async () => {
    hold();
    const session = await brain.sessions.create({ tools: [] });
    const sending = session.send('hello');
    await server.living.model.calls.at(0);

    await session.interrupt();

    expect(await sending).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' }, status: 'idle' });
    server.living.model.script = () => saying('again');
    expect((await session.send('more')).result?.text).toBe('again');
  });

  it('is labelled, found by its label, ended and deleted', async () => {
    const session = await brain.sessions.create({ idleTtlMs: 0, afterStop: 'hold', metadata: { team: 'red' } });
    await brain.sessions.create();
    expect(session.info).toMatchObject({ idle_ttl_ms: 0, after_stop: 'hold' });

    await session.changeMetadata({ team: 'blue', draft: 'yes' });
    await session.changeMetadata({ draft: null });
    const { sessions, next_cursor: next } = await brain.sessions.list({ metadata: { team: 'blue' }, limit: 5 });

    expect(sessions.map(({ session_id }) => session_id)).toEqual([session.id]);
    expect(next).toBeNull();
    expect((await session.end()).status).toBe('ended');
    await session.delete();
    await expect(session.refresh()).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a session of /sessions', () => {
  it('queues a message once under its key, and takes back one that waits', async () => {
    hold();
    const session = await brain.create({ harness: 'chat', config: { model: 'openai/scripted', tools: [] } });
    const first = await session.queue('one', { key: 'k' });
    const second = await session.queue('two');

    expect(await session.queue('one', { key: 'k' })).toEqual(first);
    expect((await session.waiting()).map(({ input_id }) => input_id)).toEqual([second.id]);
    await session.withdraw(second.id);
    expect(await session.waiting()).toEqual([]);
    await expect(session.queue('other', { key: 'k' })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is interrupted, resumed and closed', async () => {
    hold();
    const session = await brain.create({ harness: 'chat', config: { model: 'openai/scripted', tools: [] } });
    await session.queue('one');
    await server.living.model.calls.at(0);

    await session.interrupt();
    await server.living.atRest(session.id);
    expect((await session.refresh()).status).toBe('interrupted');
    expect((await session.resume()).status).toBe('idle');
    await session.close();

    expect((await session.refresh()).status).toBe('closed');
    const told = await allOf(session.events());
    expect(told.at(-1)).toMatchObject({ type: 'session.status', status: 'closed' });
  });

  it('is read by a handle of the other surface, and reads one of it', async () => {
    const told = await brain.create({ harness: 'chat', config: { model: 'openai/scripted', tools: [] } });
    const made = await brain.sessions.create({ tools: [] });

    expect((await brain.sessions.get(told.id)).info.agentloop.name).toBe('chat');
    expect((await brain.get(made.id)).info.harness).toBe('chat');
    expect((await allOf((await brain.sessions.get(told.id)).events())).map(({ type }) => type)).toContain('session_created');
  });
});
