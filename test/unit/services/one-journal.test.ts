/** A session is its journal: everything of it is recorded there once, nothing of it is kept elsewhere, nothing is undone. */
import { describe, expect, it } from 'vitest';
import { LiveReader } from '../../support/live-reader.ts';
import { DATA, LivingBrain, TENANT } from '../../support/living-brain.ts';
import { saying, ScriptedModel } from '../../support/scripted-model.ts';
import { ScriptedTools } from '../../support/scripted-tools.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import { TestLoops, type Turn } from '../../support/test-loops.ts';
import { call, RETURNED, TurnStage } from '../../support/turn-stage.ts';

const EVERYTHING = { after: 0, limit: 1_000 };

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;

/** Saves, asks, calls and emits. */
const busy: Turn = async (input, host) => {
  const messages = [...input.transcript, input.message];
  await host.kv.put('last', { of: input.message_sequence });
  await host.setTranscript(messages);
  const answer = await host.model({ messages });
  await host.dispatch([call('look'), call('act')]);
  await host.emit('acme.note', 'seen');
  if (answer.outcome === 'ended') await host.setTranscript([...messages, answer.message]);
  await host.kv.put('gone', 1);
  await host.kv.delete('gone');
  return RETURNED;
};

const failing: Turn = async (_input, host) => {
  await host.kv.put('of a failed turn', true);
  throw new Error('no');
};

/** What a loop reads of these keys in a turn of its own. */
async function valuesIn(brain: LivingBrain, sessionId: string, keys: readonly string[]): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  brain.loops.turn = async (_input, host) => {
    for (const key of keys) values.push(await host.kv.read(key));
    return RETURNED;
  };
  await brain.sessions.send(TENANT, sessionId, 'look');
  return values;
}

function journalFolder(sessionId: string): string {
  return `${DATA}/sessions/${sessionId}/journal`;
}

/** Another disk, on which of all that a server kept there is nothing but the journal of one session. */
async function withJournalAlone(disk: SimulatedDisk, sessionId: string): Promise<SimulatedDisk> {
  const copy = new SimulatedDisk();
  const process = copy.boot();
  const files = [`${DATA}/format`, ...disk.files(journalFolder(sessionId))];
  for (const folder of [DATA, `${DATA}/sessions`, `${DATA}/sessions/${sessionId}`, journalFolder(sessionId)]) await process.makeDirectory(folder);
  for (const path of files) {
    const file = await process.open(path, 'create');
    await file.write(disk.contents(path) ?? expect.fail(`there is ${path}`), 0);
    await file.close();
  }
  copy.kill(process);
  return copy;
}

describe('the journal of a session', () => {
  it('S-001, S-007, S-012, S-013: alone, in its own place, gives the whole session back, its configuration, conversation and key values', async () => {
    const stage = await TurnStage.set(busy, {
      session: {
        agentloop: { name: 'test', configuration: { deep: [1, { null: null }] } },
        model: { provider: 'any', name: 'one' },
        system: 'Be brief.',
        tools: ['act', 'look'],
        idle_ttl_ms: 5,
        after_stop: 'hold',
        metadata: { team: 'red' },
        transcript: [user('before')],
      },
    });
    await stage.send('one');
    await stage.brain.sessions.changeMetadata(TENANT, stage.sessionId, { team: null, colour: 'blue' });
    await stage.send('two');
    await stage.brain.clock.advance(5);
    const { sessions } = stage.brain;
    const before = {
      view: await sessions.get(TENANT, stage.sessionId),
      transcript: await sessions.transcript(TENANT, stage.sessionId),
      events: await sessions.events(TENANT, stage.sessionId, EVERYTHING),
    };
    expect(before.transcript.messages).toHaveLength(5);
    await stage.brain.brain.close();
    const model = new ScriptedModel();
    model.resolve = () => expect.fail('the configuration is asked for again');

    const next = await LivingBrain.start({ disk: await withJournalAlone(stage.brain.disk, stage.sessionId), model, tools: new ScriptedTools([]), loops: new TestLoops() });

    expect({
      view: await next.sessions.get(TENANT, stage.sessionId),
      transcript: await next.sessions.transcript(TENANT, stage.sessionId),
      events: await next.sessions.events(TENANT, stage.sessionId, EVERYTHING),
    }).toEqual(before);
    const last = before.events.items.findLast(({ type }) => type === 'message_queued')?.sequence;
    expect(await valuesIn(next, stage.sessionId, ['last', 'gone'])).toEqual([{ found: true, value: { of: last } }, { found: false }]);
  });

  it('S-002: has a record of each change of the session’s life, which the next process knows from it', async () => {
    const stage = await TurnStage.set(failing, { session: { after_stop: 'hold', idle_ttl_ms: 60_000 } });
    const { sessions } = stage.brain;
    const id = stage.sessionId;
    const recorded = async (change: () => Promise<unknown>): Promise<readonly string[]> => {
      const before = (await stage.brain.journal(id)).length;
      await change();
      return (await stage.brain.types(id)).slice(before);
    };
    const waiting: Turn = async (_input, host) => {
      await new Promise((resolve) => host.signal.addEventListener('abort', resolve));
      return RETURNED;
    };
    const cancelled = async (): Promise<void> => {
      stage.play(waiting);
      const sent = stage.send();
      await quiescence();
      await stage.cancel();
      await sent;
    };

    expect(await stage.brain.types(id)).toEqual(['session_created', 'session_ready']);
    expect(await recorded(() => sessions.changeMetadata(TENANT, id, { team: 'red' }))).toEqual(['session_metadata_changed']);
    expect(await recorded(() => stage.send())).toEqual(['message_queued', 'turn_started', 'activation_started', 'kv_put', 'activation_failed', 'turn_failed']);
    expect(await recorded(() => sessions.resume(TENANT, id))).toEqual(['session_resumed']);
    expect(await recorded(() => stage.brain.clock.advance(60_000))).toEqual(['session_suspended']);
    expect(await recorded(cancelled)).toContain('turn_cancel_requested');
    expect(await recorded(() => sessions.resume(TENANT, id))).toEqual(['session_resumed']);
    expect(await recorded(() => sessions.end(TENANT, id))).toEqual(['session_ending', 'session_ended']);
    const before = await sessions.get(TENANT, id);

    const next = await stage.brain.restart();

    expect(await next.sessions.get(TENANT, id)).toEqual(before);
    expect(before).toMatchObject({ status: 'ended', metadata: { team: 'red' } });
    next.disk.plan = ({ kind }) => (kind === 'rename' ? { fails: 'EIO' } : undefined);
    await next.sessions.delete(TENANT, id).catch(() => undefined);
    next.disk.plan = () => undefined;
    expect((await next.types(id)).at(-1)).toBe('session_delete_requested');
  });

  it('S-003: has a start and an end of every call that left, to a model or a tool, and of no other', async () => {
    const stage = await TurnStage.set(
      async (input, host) => {
        for (let round = 0; round < 3; round += 1) {
          await Promise.all([host.model({ messages: [input.message] }), host.model({ messages: [user(`aside ${round}`)] })]);
          await host.dispatch([call('look'), call('unknown'), call('act')]);
        }
        return RETURNED;
      },
      {
        model: new ScriptedModel((_call, index) => (index % 3 === 0 ? { outcome: 'failed', code: 'no', message: 'no' } : saying(`answer ${index}`))),
        tools: new ScriptedTools(['look', 'act'], ({ tool }) => (tool === 'act' ? Promise.reject(new Error('no')) : 'done')),
      },
    );
    await stage.send();
    await stage.send('again');

    const { model, tools } = stage.brain;
    const models = await stage.records('model_call_started');
    const calls = await stage.records('tool_call_started');
    expect([model.calls.all.length, tools.calls.all.length]).toEqual([12, 12]);
    expect(models).toHaveLength(12);
    expect(calls.map(({ sequence, data }) => [data.tool, sequence])).toEqual(tools.calls.all.map(({ tool, context }) => [tool, context.sequence]));
    const ends = [...(await stage.records('model_call_ended')), ...(await stage.records('model_call_failed')), ...(await stage.records('tool_call_ended'))];
    const byNumber = (a: number, b: number): number => a - b;
    expect(ends.map(({ data }) => data.started_sequence).toSorted(byNumber)).toEqual([...models, ...calls].map(({ sequence }) => sequence).toSorted(byNumber));
    expect(ends.flatMap(({ type, data }) => (type === 'tool_call_ended' ? [data.outcome] : []))).toEqual(calls.map(({ data }) => (data.tool === 'act' ? 'error' : 'ok')));
  });

  it('S-004, S-005: has each change of the transcript and of the key values, in the order of the changes', async () => {
    const stage = await TurnStage.set(async (_input, host) => {
      await host.setTranscript([user('a')]);
      await host.kv.put('key', 1);
      await host.setTranscript([user('a'), user('b')]);
      await host.kv.put('key', 1);
      await host.kv.put('key', 2);
      await host.setTranscript([user('c')]);
      await host.kv.delete('key');
      return RETURNED;
    });
    await stage.send();

    const changes = (await stage.brain.journal(stage.sessionId)).filter(({ type }) => ['transcript_delta', 'kv_put', 'kv_deleted'].includes(type));
    expect(changes.map(({ type, data }) => ({ type, data }))).toMatchObject([
      { type: 'transcript_delta', data: { from: 0, messages: [user('a')] } },
      { type: 'kv_put', data: { key: 'key', value: 1 } },
      { type: 'transcript_delta', data: { from: 1, messages: [user('b')] } },
      { type: 'kv_put', data: { key: 'key', value: 1 } },
      { type: 'kv_put', data: { key: 'key', value: 2 } },
      { type: 'transcript_delta', data: { from: 0, messages: [user('c')], replaces: 2 } },
      { type: 'kv_deleted', data: { key: 'key' } },
    ]);
  });

  it('S-009, S-022: has one count for what is public and what is not, so that its events, effects among them, have holes', async () => {
    const stage = await TurnStage.set(busy);
    await stage.send();
    const reader = await LiveReader.of(stage.brain.sessions, stage.sessionId);
    await stage.brain.sessions.end(TENANT, stage.sessionId);
    await reader.ended;

    const records = await stage.brain.journal(stage.sessionId);
    const { items } = await stage.brain.sessions.events(TENANT, stage.sessionId, EVERYTHING);
    const isPrivate = (type: string): boolean => ['transcript_delta', 'kv_put', 'kv_deleted'].includes(type);
    expect(records.map(({ sequence }) => sequence)).toEqual(records.map((_, index) => index + 1));
    expect(records.filter(({ type }) => isPrivate(type)).length).toBeGreaterThan(3);
    expect(items.map(({ sequence }) => sequence)).toEqual(records.filter(({ type }) => !isPrivate(type)).map(({ sequence }) => sequence));
    expect(reader.recorded).toEqual(items);
    expect(items.map(({ type }) => type).filter((type) => /^(model|tool)_call_/.test(type))).toEqual([
      'model_call_started',
      'model_call_ended',
      'tool_call_started',
      'tool_call_started',
      'tool_call_ended',
      'tool_call_ended',
    ]);
  });

  it('S-200: outlives the end of its session, for every reader, and a restart after it', async () => {
    const stage = await TurnStage.set(busy);
    await stage.send();
    const { sessions } = stage.brain;
    const events = await sessions.events(TENANT, stage.sessionId, EVERYTHING);
    const transcript = await sessions.transcript(TENANT, stage.sessionId);
    await sessions.end(TENANT, stage.sessionId);

    for (const restarted of [false, true]) {
      const brain = restarted ? await stage.brain.restart() : stage.brain;
      const after = await brain.sessions.events(TENANT, stage.sessionId, EVERYTHING);
      expect(after.items.slice(0, events.items.length)).toEqual(events.items);
      expect(after.items.slice(events.items.length).map(({ type }) => type)).toEqual(['session_ending', 'session_ended']);
      expect((await brain.sessions.transcript(TENANT, stage.sessionId)).messages).toEqual(transcript.messages);
      expect((await brain.journal(stage.sessionId)).map(({ type }) => type)).toContain('kv_put');
    }
  });
});
