import { describe, expect, it } from 'vitest';
import type { CreateSession, TurnAnswer } from '../../../services/session-service.ts';
import { codeOf } from '../../support/frames.ts';
import { DATA, LivingBrain, TENANT } from '../../support/living-brain.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { calling, saying, ScriptedModel } from '../../support/scripted-model.ts';
import { ScriptedTools } from '../../support/scripted-tools.ts';
import type { SimulatedDisk } from '../../support/simulated-disk.ts';
import { failNext } from '../../support/stores.ts';
import { TestLoops } from '../../support/test-loops.ts';

const VALUE = 'sk-canary-0123456789';
const OTHER = 'sk-canary-9876543210';
const SERVER = 'sk-server-canary-555';
const WITH_MINE: Partial<CreateSession> = { model: { provider: 'any', name: 'model', credential: 'mine' } };

async function startWithMine(options: Parameters<typeof LivingBrain.start>[0] = {}): Promise<LivingBrain> {
  const brain = await LivingBrain.start(options);
  await brain.brain.credentials.put(TENANT, 'mine', VALUE);
  return brain;
}

function used(brain: LivingBrain): readonly (string | undefined)[] {
  return brain.model.calls.all.map(({ credential }) => credential);
}

function send(brain: LivingBrain, sessionId: string): Promise<TurnAnswer> {
  return brain.sessions.send(TENANT, sessionId, 'hello');
}

/** The texts of all files that a process left. */
function filesOf(disk: SimulatedDisk): readonly (readonly [path: string, text: string])[] {
  return disk.files(DATA).map((path) => [path, Buffer.from(disk.contents(path) ?? []).toString('latin1')]);
}

describe('a session that names a credential', () => {
  it('records the name alone, and calls its model with the value', async () => {
    const brain = await startWithMine();
    const { session_id, model } = await brain.createChat(WITH_MINE);
    expect(model).toMatchObject({ provider: 'any', name: 'model', credential: 'mine' });

    await send(brain, session_id);

    expect(used(brain)).toEqual([VALUE]);
    const [created] = await brain.journal(session_id);
    expect(created?.data).toMatchObject({ model: { credential: 'mine' } });
    expect(filesOf(brain.disk).filter(([, text]) => text.includes('canary'))).toEqual([]);
    expect(filesOf(brain.disk).map(([path]) => path)).toContain(`${DATA}/sessions/${session_id}/credentials`);
  });

  it('is not created where there is none of that name, and nothing is left of it', async () => {
    const brain = await startWithMine();

    await expect(brain.createChat({ model: { provider: 'any', name: 'model', credential: 'yours' } })).rejects.toMatchObject({
      code: 'unknown_credential',
      details: { field: '/model/credential' },
    });

    expect(brain.disk.files(`${DATA}/sessions`)).toEqual([]);
  });

  it('is not moved by what becomes of the credential, nor by a restart', async () => {
    const brain = await startWithMine();
    const { session_id } = await brain.createChat(WITH_MINE);
    await brain.brain.credentials.put(TENANT, 'mine', OTHER);
    await send(brain, session_id);
    const { session_id: later } = await brain.createChat(WITH_MINE);
    await brain.brain.credentials.delete(TENANT, 'mine');

    const next = await brain.restart();
    await send(next, session_id);
    await send(next, later);

    expect(used(next)).toEqual([VALUE, VALUE, OTHER]);
    expect(await codeOf(next.createChat(WITH_MINE))).toBe('unknown_credential');
  });

  it('fails its model calls, and sends nothing, where its own copy is missing, damaged or unreadable', async () => {
    const brain = await startWithMine();
    const { session_id } = await brain.createChat(WITH_MINE);
    const file = `${DATA}/sessions/${session_id}/credentials`;
    const whole = brain.disk.contents(file) ?? new Uint8Array();

    const failures: (() => Promise<void> | void)[] = [
      () => brain.disk.damage(file, (bytes) => bytes.slice(0, -1)),
      () => brain.disk.damage(file, () => new Uint8Array(0)),
      () => {
        brain.disk.damage(file, () => whole);
        brain.disk.plan = ({ kind, path }) => (kind === 'open' && path === file ? { fails: 'EIO' } : undefined);
      },
      async () => {
        await brain.disk.boot().remove(file);
      },
    ];
    for (const fail of failures) {
      await fail();
      expect(await send(brain, session_id)).toMatchObject({ outcome: 'failed', error: { code: 'model_error' } });
      brain.disk.plan = () => undefined;
    }

    expect(used(brain)).toEqual([]);
    const failed = (await brain.journal(session_id)).filter(({ type }) => type === 'model_call_failed');
    expect(failed.map(({ data }) => data)).toMatchObject(failures.map(() => ({ outcome: 'failed', code: 'credential_unavailable' })));
    expect(JSON.stringify([failed, brain.log])).not.toContain('canary');
  });

  it('cannot use the copy of another session', async () => {
    const brain = await startWithMine();
    const { session_id } = await brain.createChat(WITH_MINE);
    await brain.brain.credentials.put(TENANT, 'mine', OTHER);
    const { session_id: second } = await brain.createChat(WITH_MINE);
    const copy = brain.disk.contents(`${DATA}/sessions/${session_id}/credentials`) ?? new Uint8Array();

    brain.disk.damage(`${DATA}/sessions/${second}/credentials`, () => copy);

    expect(await send(brain, second)).toMatchObject({ outcome: 'failed' });
    expect(used(brain)).toEqual([]);
  });

  it('sends no value that a header cannot carry as it is', async () => {
    const brain = await startWithMine();
    for (const value of ['schlüssel-0123456789', ' leading-space-0123', 'trailing-space-012 ']) {
      await brain.brain.credentials.put(TENANT, 'mine', value);
      const { session_id } = await brain.createChat(WITH_MINE);
      expect(await send(brain, session_id)).toMatchObject({ outcome: 'failed' });
    }
    expect(used(brain)).toEqual([]);
  });

  it('is as if it had never been where its copy cannot be written', async () => {
    const brain = await startWithMine();
    failNext(brain.disk, 'write', 'ENOSPC');

    expect(await codeOf(brain.createChat(WITH_MINE))).toBe('disk_full');

    brain.disk.plan = () => undefined;
    expect(brain.disk.files(`${DATA}/sessions`)).toEqual([]);
    expect((await brain.sessions.list(TENANT, { after: '', limit: 10 })).sessions).toEqual([]);
    expect((await brain.createChat(WITH_MINE)).status).toBe('idle');
  });

  it('S-203: takes its copy along when it is deleted', async () => {
    const brain = await startWithMine();
    const { session_id } = await brain.createChat(WITH_MINE);
    await brain.sessions.end(TENANT, session_id);

    await brain.sessions.delete(TENANT, session_id);
    await brain.brain.close();

    expect(brain.disk.files(DATA).filter((path) => path.includes(session_id))).toEqual([]);
  });

  it('has its copy whole before its first record, whenever the process dies and the power fails', async () => {
    for (let atCall = 1; ; atCall += 1) {
      const brain = await startWithMine();
      const first = brain.disk.callCount;
      brain.disk.plan = ({ number }) => (number === first + atCall ? { dies: 'after' } : undefined);
      const creating = brain.createChat(WITH_MINE).then(() => 'created');
      const outcome = await Promise.race([creating, brain.hasDied.then(() => 'died')]);
      brain.disk.plan = () => undefined;
      brain.disk.cutPower((count) => count - 1);
      const next = await brain.restart();

      const { sessions } = await next.sessions.list(TENANT, { after: '', limit: 10 });
      for (const { session_id } of sessions) expect(await send(next, session_id)).toMatchObject({ outcome: 'ended' });
      expect(used(next)).toEqual(sessions.map(() => VALUE));
      if (outcome === 'created') return;
    }
  });
});

describe('a session that names no credential', () => {
  it('uses the server\'s key', async () => {
    const brain = await startWithMine();
    const { session_id } = await brain.createChat();

    await send(brain, session_id);

    expect(used(brain)).toEqual([undefined]);
    expect(brain.disk.contents(`${DATA}/sessions/${session_id}/credentials`)).toBeNull();
  });

  it('goes on where the tenant\'s credentials do not open', async () => {
    const brain = await startWithMine();
    const { session_id } = await brain.createChat();
    const [file = ''] = brain.disk.files(`${DATA}/credentials`);
    brain.disk.damage(file, () => Buffer.from('{}'));

    const next = await brain.restart();

    expect(await send(next, session_id)).toMatchObject({ outcome: 'ended' });
    expect(next.log.map(({ event }) => event)).toContain('credentials_not_known');
  });
});

describe('a secret in use', () => {
  const leaks = (text: unknown): boolean => JSON.stringify(text).includes('canary');

  it('is in nothing that a model, a tool or a loop gave back: no record, event, answer, live text, file or telemetry', async () => {
    const all = `${VALUE} ${SERVER}`;
    const model = new ScriptedModel((call, index) => {
      for (const piece of all.match(/.{1,5}/g) ?? []) call.say({ text: piece });
      call.say({ reasoning: all });
      call.say({ tool_input: all });
      if (index === 0) return calling({ tool: 'look', input: { [VALUE]: all } }, { tool: 'act', input: { all } });
      if (index === 1) return { outcome: 'failed', code: 'http_401', message: `bad key ${all}` };
      return saying(all);
    });
    const tools = new ScriptedTools(['look', 'act'], async ({ tool, context }) => {
      context.progress({ message: all });
      await context.emit(`acme.${VALUE}`, { all });
      if (tool === 'act') throw new Error(`${'x'.repeat(3_990)}${all}`);
      return { [VALUE]: [all] };
    });
    const loops = new TestLoops(async ({ message }, host) => {
      const answer = await host.model({ messages: [message], system: all });
      if (answer.outcome !== 'ended') throw new Error(`gave up: ${all}`);
      const calls = answer.message.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
      const results = await host.dispatch([
        ...calls.map(({ id, name, input_text }) => ({ tool: name, tool_use_id: id, input_text })),
        { tool: 'look', tool_use_id: VALUE, input_text: `{"x":"${VALUE}"}`, input: { y: all } },
        { tool: `no-${VALUE}`, tool_use_id: '1', input_text: VALUE },
      ]);
      await host.emit('acme.note', { all });
      await host.setTranscript([message, { role: 'assistant', content: [{ type: 'text', text: all, provider: { all } }] }]);
      await host.kv.put(VALUE, { all });
      host.telemetry({ all });
      heard.push(answer, results.map(({ output }) => output), await host.kv.read(VALUE), await host.events(0));
      if (failsNext) throw new Error(`${'y'.repeat(990)}${all}`);
      return { kind: 'returned', result: { value: { all } } };
    });
    const heard: unknown[] = [];
    let failsNext = false;
    const brain = await startWithMine({ model, tools, loops, serverSecrets: [SERVER] });
    const { session_id } = await brain.create({ ...WITH_MINE, tools: ['look', 'act'], after_stop: 'idle' });
    const reader = await LiveReader.of(brain.sessions, session_id);
    const answers: unknown[] = [await send(brain, session_id), await send(brain, session_id)];
    failsNext = true;
    answers.push(await send(brain, session_id));
    await brain.atRest(session_id);

    const journal = await brain.journal(session_id);
    expect(journal.filter(leaks)).toEqual([]);
    expect(reader.seen.filter(leaks)).toEqual([]);
    expect(answers.filter(leaks)).toEqual([]);
    expect(heard.filter(leaks)).toEqual([]);
    expect(brain.telemetry.filter(leaks)).toEqual([]);
    expect(brain.log.filter(leaks)).toEqual([]);
    expect(filesOf(brain.disk).filter(([, text]) => text.includes('canary'))).toEqual([]);
    expect(leaks(await brain.sessions.transcript(TENANT, session_id))).toBe(false);
    // The turns went all the way: each of these was said, and taken out.
    const types = new Set(journal.filter((record) => JSON.stringify(record).includes('[secret removed]')).map(({ type }) => type));
    for (const type of ['model_call_started', 'model_call_ended', 'model_call_failed', 'tool_call_started', 'tool_call_ended', 'extension_emitted', 'transcript_delta', 'kv_put', 'activation_ended', 'turn_failed'] as const) {
      expect(types).toContain(type);
    }
    const live = new Set(reader.live.filter((event) => JSON.stringify(event).includes('[secret removed]')).map(({ type }) => type));
    expect([...live].toSorted()).toEqual(['model_delta', 'telemetry', 'tool_progress']);
  });

  it('is one of every session of its tenant, also after a restart, and blanks nothing in another tenant\'s', async () => {
    const brain = await startWithMine({ model: new ScriptedModel(() => saying(`the key is ${VALUE}`)) });
    const { session_id } = await brain.createChat();
    const next = await brain.restart();
    const { session_id: others } = await next.sessions.create('other', { surface: 'v1', agentloop: { name: 'chat' } });

    expect((await send(next, session_id)).result?.text).toBe('the key is [secret removed]');
    expect((await next.sessions.send('other', others, 'hello')).result?.text).toBe(`the key is ${VALUE}`);
  });

  it('of a session is looked for in its turns though the tenant has deleted it', async () => {
    const brain = await startWithMine({ model: new ScriptedModel(() => saying(`the key is ${VALUE}`)) });
    const { session_id } = await brain.createChat(WITH_MINE);
    await brain.brain.credentials.delete(TENANT, 'mine');

    expect((await send(brain, session_id)).result?.text).toBe('the key is [secret removed]');
  });
});
