/** What a loop is given, and what it is kept from. */
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../machines/messages.ts';
import { modelRequestAt } from '../../../machines/projections/model-request.ts';
import type { LoopHost } from '../../../services/loops/agent-loop.ts';
import { plan } from '../../support/disk-faults.ts';
import { gate } from '../../support/gate.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { TENANT } from '../../support/living-brain.ts';
import { saying, ScriptedModel } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { call, never, RETURNED, TurnStage } from '../../support/turn-stage.ts';

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;

describe('the host services of a turn', () => {
  it('S-071: tell a missing key from a stored null', async () => {
    const read: unknown[] = [];
    const stage = await TurnStage.set(async (_input, host) => {
      read.push(await host.kv.read('key'));
      await host.kv.put('key', null);
      read.push(await host.kv.read('key'));
      await host.kv.delete('key');
      read.push(await host.kv.read('key'));
      return RETURNED;
    });

    await stage.send();

    expect(read).toEqual([{ found: false }, { found: true, value: null }, { found: false }]);
  });

  it.each(['__proto__', 'constructor', '', '\u0000', '\ud800'])('S-068: keep the key %j like any other, and after a restart', async (key) => {
    const stage = await TurnStage.set(async (_input, host) => {
      await host.kv.put(key, { deep: [1, null] });
      return RETURNED;
    });
    await stage.send();
    const next = await stage.brain.restart();
    let read: unknown;
    next.loops.turn = async (_input, host) => {
      read = await host.kv.read(key);
      return RETURNED;
    };

    await next.sessions.send(TENANT, stage.sessionId, 'again');

    expect(read).toEqual({ found: true, value: { deep: [1, null] } });
  });

  it('S-070: record nothing for the deletion of a key that is not there', async () => {
    const stage = await TurnStage.set(async (_input, host) => {
      await host.kv.delete('nothing');
      return RETURNED;
    });
    await stage.send();

    expect(await stage.records('kv_deleted')).toEqual([]);
  });

  it('S-072: return only when what they saved is on the device', async () => {
    const done: string[] = [];
    const flush = gate();
    const stage = await TurnStage.set(async (_input, host) => {
      plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId }, { start: flush.opened });
      void host.kv.put('key', 1).then(() => done.push('kv'));
      void host.setTranscript([user('kept')]).then(() => done.push('transcript'));
      void host.emit('acme.note', {}).then(() => done.push('emit'));
      return never();
    });
    void stage.send().catch(() => undefined);
    await quiescence();
    expect(done).toEqual([]);

    flush.open();
    await quiescence();

    expect(done.toSorted()).toEqual(['emit', 'kv', 'transcript']);
    const durable = (await stage.brain.afterPowerCut(stage.sessionId)).map(({ type }) => type);
    expect(durable).toEqual(expect.arrayContaining(['kv_put', 'transcript_delta', 'extension_emitted']));
  });

  it('resolve a save with what is kept now: cleaned, not to be changed, and the same messages as long as they are handed back', async () => {
    const saved: (readonly Message[])[] = [];
    const stage = await TurnStage.set(async (_input, host) => {
      const first = await host.setTranscript([user('a\u0000'), user('b')]);
      saved.push(first, await host.setTranscript([...first, user('c')]), await host.setTranscript(first.slice(1)));
      return RETURNED;
    });
    await stage.send();

    const [a, b] = saved[0] ?? [];
    expect(saved).toEqual([[user('a'), user('b')], [user('a'), user('b'), user('c')], [user('b')]]);
    expect([saved[1]?.[0] === a, saved[1]?.[1] === b, Object.isFrozen(a), Object.isFrozen(a?.content)]).toEqual([true, true, true, true]);
  });

  it('S-040: make an event durable before they say that it is emitted, and before anybody reads it', async () => {
    const flush = gate();
    let isEmitted = false;
    const seen: string[][] = [];
    const stage = await TurnStage.set(async (_input, host) => {
      plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId, times: 1 }, { start: flush.opened });
      const emitted = host.emit('acme.note', 1).then(() => (isEmitted = true));
      void host.events(0).then(({ events }) => seen.push(events.map(({ type }) => type)));
      await emitted;
      seen.push((await host.events(0)).events.map(({ type }) => type));
      return RETURNED;
    });
    const reader = await LiveReader.of(stage.brain.sessions, stage.sessionId);
    const sent = stage.send();
    await quiescence();
    const { items } = await stage.brain.sessions.events(TENANT, stage.sessionId, { after: 0, limit: 100 });
    expect([isEmitted, ...seen.flat(), ...reader.types, ...items.map(({ type }) => type)]).not.toContain('acme.note');
    expect([isEmitted, seen.length, reader.types.at(-1), items.at(-1)?.type]).toEqual([false, 1, 'activation_started', 'activation_started']);

    flush.open();
    await sent;
    await quiescence();

    expect([isEmitted, seen[1]?.at(-1), reader.types.includes('acme.note')]).toEqual([true, 'acme.note', true]);
  });

  it('S-073, S-117: work until a cancelled turn closes, and keep what they saved', async () => {
    const answers: unknown[] = [];
    const stage = await TurnStage.set(async (_input, host) => {
      await new Promise((resolve) => host.signal.addEventListener('abort', resolve));
      await host.setTranscript([user('kept')]);
      await host.kv.put('kept', true);
      answers.push(await host.emit('acme.note', 'kept'), await host.model({ messages: [] }), await host.dispatch([call('act')]));
      return RETURNED;
    });
    const sent = stage.send();
    await quiescence();
    await stage.cancel();

    expect(await sent).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' } });
    expect(answers).toMatchObject([
      { sequence: expect.any(Number) },
      { outcome: 'refused', code: 'turn_cancelled' },
      [{ outcome: 'cancelled', is_error: true, sequence: null }],
    ]);
    expect(await stage.brain.sessions.transcript(TENANT, stage.sessionId)).toMatchObject({ messages: [user('kept')] });
    expect(stage.brain.model.calls.all).toEqual([]);
    expect(stage.brain.tools.calls.all).toEqual([]);
  });

  it('end no server where a loop leaves a refused call alone', async () => {
    let left: LoopHost | null = null;
    const stage = await TurnStage.set(async (_input, host) => {
      left = host;
      void host.setTranscript([() => undefined] as never);
      return RETURNED;
    });
    await stage.send();

    const host: LoopHost = left ?? expect.fail('the turn ran');
    void host.kv.put('late', 1);
    void host.model({ messages: [] });
    await quiescence();

    expect(await stage.records('kv_put')).toEqual([]);
  });

  it('L-102, S-021: show a loop public events only, from the cursor on, with the last page saying so', async () => {
    const stage = await TurnStage.set(async (_input, host) => {
      await host.kv.put('private', 1);
      await host.emit('acme.note', 1);
      return RETURNED;
    });
    await stage.send();
    let seen: Awaited<ReturnType<LoopHost['events']>> | null = null;
    let after = 0;
    stage.play(async (input, host) => {
      after = input.checkpoint_sequence;
      seen = await host.events(0);
      return RETURNED;
    });
    await stage.send('again');

    const { items } = await stage.brain.sessions.events(TENANT, stage.sessionId, { after: 0, limit: 1_000 });
    expect(seen).toEqual({ events: items.filter(({ sequence }) => sequence <= after + 3), next: null });
    expect(items.some(({ type }) => type === 'kv_put')).toBe(false);
  });

  it('S-106, S-166: show telemetry to live readers and to nobody later, and take only plain data, watched or not', async () => {
    const errors: unknown[] = [];
    const stage = await TurnStage.set(async (_input, host) => {
      host.telemetry({ step: 'thinking' });
      try {
        host.telemetry({ step: 10n } as never);
      } catch (error) {
        errors.push(error);
      }
      return RETURNED;
    });
    await stage.brain.sessions.submit(TENANT, stage.sessionId, 'unwatched');
    await quiescence();
    const reader = await LiveReader.of(stage.brain.sessions, stage.sessionId);
    await quiescence();
    await stage.send('again');
    await quiescence();

    expect(reader.live).toMatchObject([{ type: 'telemetry', data: { record: { step: 'thinking' } } }]);
    expect(stage.brain.telemetry).toMatchObject(Array(2).fill({ session_id: stage.sessionId, record: { step: 'thinking' } }));
    expect(errors).toHaveLength(2);
    expect(JSON.stringify(await stage.brain.journal(stage.sessionId))).not.toContain('thinking');
  });

  it('S-080, S-081: record what a request has besides the session, and send exactly that', async () => {
    const stage = await TurnStage.set(
      async (_input, host) => {
        await host.model({ messages: [user('plain')] });
        await host.model({ messages: [user('side')], system: null, tools: ['look'], parameters: { temperature: 0 } });
        return RETURNED;
      },
      { model: new ScriptedModel(() => saying('yes')), session: { system: 'be brief' } },
    );
    await stage.send();

    const started = await stage.records('model_call_started');
    expect(started.map(({ data }) => data.context)).toMatchObject([
      { delta: { from: 0 } },
      { system: null, tools: ['look'], parameters: { temperature: 0 } },
    ]);
    expect(started[0]?.data.context).not.toHaveProperty('tools');
    const requests = stage.brain.model.calls.all.map(({ request }) => request);
    expect(requests).toMatchObject([
      { system: 'be brief', tools: [{ name: 'look' }, { name: 'act' }] },
      { tools: [{ name: 'look' }], parameters: { temperature: 0 } },
    ]);
    expect(requests[1]).not.toHaveProperty('system');
  });

  it('S-080: offer tools in the order in which the request names them, each once, which is the order that the record tells', async () => {
    const stage = await TurnStage.set(async (_input, host) => {
      await host.model({ messages: [user('side')], tools: ['act', 'look', 'act'] });
      return RETURNED;
    }, { model: new ScriptedModel(() => saying('yes')) });
    await stage.send();

    const [call] = stage.brain.model.calls.all;
    const records = await stage.brain.journal(stage.sessionId);
    const started = records.find(({ type }) => type === 'model_call_started');
    expect(call?.request.tools.map(({ name }) => name)).toEqual(['act', 'look']);
    expect(modelRequestAt(records, started?.sequence ?? 0)?.tools.map(({ name }) => name)).toEqual(['act', 'look']);
  });

  it.each([{ tools: 'look' }, { system: 5 }, { parameters: [] }, { more: 1 }])('refuse a model request with %o, and record nothing of it', async (wrong) => {
    const answers: unknown[] = [];
    const stage = await TurnStage.set(async (_input, host) => {
      answers.push(await host.model({ messages: [user('side')], ...wrong } as never));
      return RETURNED;
    });
    await stage.send();

    expect(answers).toMatchObject([{ outcome: 'refused', code: 'invalid_request' }]);
    expect(await stage.records('model_call_started')).toEqual([]);
  });

  it('refuse what is no transcript without harm to the journal', async () => {
    const refusals: unknown[] = [];
    const stage = await TurnStage.set(async (_input, host) => {
      for (const bad of [null, 'text', [null], [{ role: 'user' }], [{ role: 'user', content: [], sequences: [999] }], [{ sequences: [999] }]]) {
        await host.setTranscript(bad as never).catch((error: unknown) => refusals.push(error));
      }
      await host.setTranscript([user('good')]);
      return RETURNED;
    });

    expect(await stage.send()).toMatchObject({ outcome: 'ended' });

    expect(refusals).toHaveLength(6);
    const next = await stage.brain.restart();
    await expect(next.sessions.transcript(TENANT, stage.sessionId)).resolves.toMatchObject({ messages: [user('good')] });
  });
});
