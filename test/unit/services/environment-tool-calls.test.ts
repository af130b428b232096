/** Tool calls that environments carry out: sent once, ended once, and told of their end. */
import { describe, expect, it } from 'vitest';
import { toolOutputOf } from '../../../machines/close-turn.ts';
import type { JsonValue } from '../../../machines/messages.ts';
import type { Receipt } from '../../../services/environments/operation.ts';
import type { LoopToolAnswer } from '../../../services/loops/agent-loop.ts';
import { plan } from '../../support/disk-faults.ts';
import { codeOf } from '../../support/frames.ts';
import { gate } from '../../support/gate.ts';
import { DATA, TENANT, type LivingBrain } from '../../support/living-brain.ts';
import { LiveReader } from '../../support/live-reader.ts';
import {
  ACCEPTED,
  failure,
  ScriptedEnvironments,
  unknown,
  type EnvironmentScript,
  type SentToEnvironment,
} from '../../support/scripted-environments.ts';
import { ScriptedTools } from '../../support/scripted-tools.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import type { Turn } from '../../support/test-loops.ts';
import { call, RETURNED, TurnStage } from '../../support/turn-stage.ts';

const SECRET = 'sk-canary-0123456789';
const MIB = 1024 * 1024;
const SCHEMA = { type: 'object', properties: { count: { type: 'integer' } } };

/** Two environments: `shop` over HTTP, with a credential, and the host `lab`. */
async function declare({ brain }: LivingBrain): Promise<void> {
  const tool = (name: string, effect: 'read' | 'idempotent' | 'once') => ({ name, description: `the tool ${name}`, input_schema: SCHEMA, effect });
  await brain.credentials.put(TENANT, 'shop_key', SECRET);
  await brain.environments.put(TENANT, 'shop', {
    driver: 'http',
    url: 'https://shop.example/agent',
    credential: 'shop_key',
    configuration: { region: 'north' },
    tools: [{ ...tool('buy', 'once'), configuration: { currency: 'EUR' } }, tool('find', 'read')],
  });
  await brain.environments.put(TENANT, 'lab', { driver: 'host', host: 'bench-1', tools: [tool('measure', 'idempotent')] });
}

type Options = Parameters<typeof TurnStage.set>[1];

/** A session on both of them; `script` is for its calls. */
function stageWith(turn: Turn, script: EnvironmentScript, options: Options = {}): Promise<TurnStage> {
  const environments = new ScriptedEnvironments((sent) => (sent.call.operation.request.type === 'invoke' ? script(sent) : ACCEPTED));
  const session = { environments: ['shop', 'lab'], tools: ['buy', 'find', 'measure', 'act'] };
  return TurnStage.set(turn, { ...options, environments, before: declare, session: { ...session, ...options.session } });
}

/** A turn that dispatches these at once, and what it was answered. */
async function dispatching(script: EnvironmentScript, calls = [call('buy')], options: Options = {}) {
  const answers: LoopToolAnswer[] = [];
  const stage = await stageWith(
    async (_input, host) => {
      answers.push(...(await host.dispatch(calls)));
      return RETURNED;
    },
    script,
    options,
  );
  return { stage, answers };
}

function waits(): 'waits' {
  return 'waits';
}

function result(output: JsonValue): Receipt {
  return { type: 'result', output };
}

function invoked({ brain }: TurnStage, environment?: string): Promise<SentToEnvironment> {
  return brain.environments.first('invoke', environment);
}

function invocations({ brain }: TurnStage): readonly SentToEnvironment[] {
  return brain.environments.sent.all.filter(({ call: { operation } }) => operation.request.type === 'invoke');
}

describe('a tool call of an environment', () => {
  it('S-031, S-053, S-057: is sent once its start is durable, named by it, to where the creation recorded', async () => {
    const { stage } = await dispatching(waits, [call('buy', { count: 2 })], { limits: { toolMs: 5_000 } });
    await stage.brain.brain.environments.put(TENANT, 'shop', { driver: 'http', url: 'https://elsewhere.example', tools: [] });
    await stage.brain.brain.credentials.put(TENANT, 'shop_key', 'sk-another-0123456789');
    void stage.send().catch(() => undefined);
    const sent = await invoked(stage);

    const durable = (await stage.brain.afterPowerCut(stage.sessionId)).at(-1);

    expect(durable).toMatchObject({ type: 'tool_call_started', data: { tool: 'buy', effect: 'once' } });
    expect(sent.driver).toBe('http');
    expect(sent.call).toMatchObject({ tenant: TENANT, credential: SECRET, environment: { name: 'shop', url: 'https://shop.example/agent' } });
    expect(sent.call.operation).toEqual({
      session_id: stage.sessionId,
      environment: 'shop',
      sequence: durable?.sequence,
      request: { type: 'invoke', tool: 'buy', input: { count: 2 }, deadline_ms: 5_000, configuration: { currency: 'EUR' } },
    });
    expect(JSON.stringify(durable)).not.toContain('example');
  });

  it('is told of what is left until its deadline: recording its start takes some of it, and may take all', async () => {
    const answers: LoopToolAnswer[] = [];
    const stage: TurnStage = await stageWith(
      async (_input, host) => {
        for (const ms of [2_000, 5_000]) {
          const flushed = new Promise<void>((resolve) => stage.brain.clock.after(ms, resolve));
          plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId, times: 1 }, { start: flushed });
          answers.push(...(await host.dispatch([call('measure')])));
        }
        return RETURNED;
      },
      () => result('done'),
      { limits: { toolMs: 5_000 } },
    );
    const sent = stage.send();
    await stage.brain.clock.advance(10_000);
    await sent;

    expect(invocations(stage).map(({ call: { operation } }) => operation.request)).toMatchObject([{ deadline_ms: 3_000 }]);
    expect(answers.map(({ outcome }) => outcome)).toEqual(['ok', 'timeout']);
  });

  it('S-056: runs beside others, of another environment and of this process, and answers stand in the order of the calls', async () => {
    const { stage, answers } = await dispatching(waits, [call('buy'), call('measure'), call('act'), call('find')]);
    const sent = stage.send();
    const [shop, lab] = await Promise.all([invoked(stage, 'shop'), invoked(stage, 'lab')]);
    await quiescence();
    expect(stage.brain.tools.calls.all).toHaveLength(1);
    invocations(stage).at(-1)?.answer(result('found'));
    lab.answer(result('measured'));
    await quiescence();
    shop.answer(result('bought'));
    await sent;

    expect(answers.map(({ outcome, output }) => [outcome, output])).toEqual([['ok', 'bought'], ['ok', 'measured'], ['ok', 'done'], ['ok', 'found']]);
    expect([shop.driver, lab.driver]).toEqual(['http', 'host']);
    expect([shop.call.credential, lab.call.credential]).toEqual([SECRET, null]);
    expect(stage.brain.environments.sentTwice).toEqual([]);
  });

  it('S-124, S-126: two have answered and one hangs when the process dies: two results and one unknown, and nothing is sent again', async () => {
    const { stage } = await dispatching(({ call: { operation } }) => (operation.environment === 'lab' ? 'waits' : result('done')), [call('buy'), call('measure'), call('find')]);
    stage.send().catch(() => undefined);
    await invoked(stage, 'lab');
    await quiescence();

    const next = await stage.brain.restart();

    const records = await next.journal(stage.sessionId);
    const started = records.filter(({ type }) => type === 'tool_call_started');
    const ends = started.map(({ sequence }) => records.find(({ type, data }) => type === 'tool_call_ended' && 'started_sequence' in data && data.started_sequence === sequence)?.data);
    expect(ends).toMatchObject([{ outcome: 'ok' }, { outcome: 'unknown', output: toolOutputOf('unknown', 'idempotent') }, { outcome: 'ok' }]);
    expect(invocations(stage)).toHaveLength(3);
  });

  it.each<[string, string, Receipt, Partial<LoopToolAnswer>]>([
    ['a result', 'buy', result({ order: 7 }), { outcome: 'ok', output: { order: 7 }, is_error: false }],
    ['no result', 'buy', result(null), { outcome: 'ok', output: null }],
    ['a failure', 'buy', failure('sold_out', 'nothing is left'), { outcome: 'error', output: 'nothing is left (sold_out)', is_error: true }],
    ['a failure without words', 'buy', failure('sold_out', ''), { outcome: 'error', output: 'sold_out' }],
    [
      'a failure that says more',
      'buy',
      { type: 'failure', code: 'busy', message: 'not now', retryable: true, details: { after: 3 } },
      { outcome: 'error', output: 'not now (busy); the environment says that the call may be made again {"after":3}' },
    ],
    ['unknown', 'buy', unknown('the connection was lost'), { outcome: 'unknown', is_error: true, output: `${toolOutputOf('unknown', 'once')} What is known: the connection was lost` }],
    ['unknown, of a tool that only reads', 'find', unknown(''), { outcome: 'unknown', output: toolOutputOf('unknown', 'read') }],
    ['an acceptance and nothing after it', 'buy', ACCEPTED, { outcome: 'unknown' }],
  ])('S-036, S-038: ends with %s', async (_what, tool, receipt, answer) => {
    const { stage, answers } = await dispatching(() => receipt, [call(tool)]);
    await stage.send();

    const { outcome, output, is_error } = answers[0] ?? {};
    expect({ outcome, output, is_error }).toMatchObject(answer);
    const [started] = await stage.records('tool_call_started');
    expect(await stage.records('tool_call_ended')).toMatchObject([{ data: { started_sequence: started?.sequence, outcome, output, is_error } }]);
    expect((await invoked(stage)).closes).toEqual([null]);
  });

  it.each<['timeout' | 'unknown', string]>([
    ['timeout', toolOutputOf('timeout', 'once')],
    ['unknown', toolOutputOf('unknown', 'once')],
  ])('S-118, S-120: is %s at its deadline where that is what is known, and its executor is told under the record of it, once it is durable', async (atDeadline, output) => {
    const { stage, answers } = await dispatching(waits, [call('buy')], { limits: { toolMs: 5_000 } });
    const sending = stage.send();
    const sent = await invoked(stage);
    sent.atDeadline = atDeadline;
    const flush = gate();
    plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId, times: 1 }, { start: flush.opened });
    await stage.brain.clock.advance(5_000);
    expect([sent.closes, answers]).toEqual([[], []]);

    flush.open();
    await sending;

    const ended = await stage.records('tool_call_ended');
    expect(ended).toMatchObject([{ data: { outcome: atDeadline, output, is_error: true } }]);
    expect(sent.closes).toEqual([ended[0]?.sequence]);
    expect(answers).toMatchObject([{ outcome: atDeadline, output }]);
  });

  it('ends unknown where the driver itself fails, for it may have been sent: the log says why, and the turn goes on', async () => {
    const { stage, answers } = await dispatching(() => {
      throw new Error('the driver is broken');
    });
    await stage.send();

    expect(await stage.records('tool_call_ended')).toMatchObject([{ data: { outcome: 'unknown', is_error: true } }]);
    expect(answers).toMatchObject([{ outcome: 'unknown', output: expect.stringContaining(toolOutputOf('unknown', 'once')) as string }]);
    expect(await stage.records('turn_failed')).toEqual([]);
    const faults = stage.brain.log.filter(({ event }) => event === 'environment_call_failed');
    expect(faults).toMatchObject([{ facts: { environment: 'shop', error: 'Error: the driver is broken' } }]);
  });

  it('is let go of at once where none of it arrived: nothing is to arrive while its end is being recorded', async () => {
    const { stage } = await dispatching(waits, [call('measure')], { limits: { toolMs: 5_000 } });
    const sending = stage.send();
    const sent = await invoked(stage);
    sent.mayHaveArrived = false;
    const flush = gate();
    plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId, times: 1 }, { start: flush.opened });

    await stage.brain.clock.advance(5_000);
    expect(sent.closes).toEqual([null]);
    flush.open();
    await sending;

    expect(sent.closes).toEqual([null]);
    const output = 'Nobody was given this call by its deadline: nothing was done.';
    expect(await stage.records('tool_call_ended')).toMatchObject([{ data: { outcome: 'timeout', output } }]);
  });

  it('says that nothing was done where it was cancelled before any of it arrived', async () => {
    const { stage } = await dispatching(waits);
    const sending = stage.send();
    (await invoked(stage)).mayHaveArrived = false;
    await stage.cancel();
    await sending;

    const output = 'This call was cancelled before anybody was given it: nothing was done.';
    expect(await stage.records('tool_call_ended')).toMatchObject([{ data: { outcome: 'cancelled', output } }]);
  });

  it('S-113, S-115, S-118, S-119: comes back cancelled, and the turn waits for its executor to stop', async () => {
    const { stage, answers } = await dispatching(waits);
    const sending = stage.send();
    const sent = await invoked(stage);
    const stops = gate();
    sent.stops = stops.opened;
    await stage.cancel();
    await quiescence();

    const [ended] = await stage.records('tool_call_ended');
    expect(ended?.data).toMatchObject({ outcome: 'cancelled', is_error: true });
    expect(answers).toMatchObject([{ outcome: 'cancelled' }]);
    expect(sent.closes).toEqual([ended?.sequence]);
    expect(await stage.records('turn_failed')).toEqual([]);
    stops.open();

    expect(await sending).toMatchObject({ error: { code: 'cancelled' } });
  });

  it('S-115: keeps its turn open no longer than the cleanup bound, and what comes late or twice is not recorded', async () => {
    const { stage } = await dispatching(waits, [call('buy')], { limits: { cancelMs: 10_000 } });
    const sending = stage.send();
    const sent = await invoked(stage);
    sent.stops = new Promise(() => undefined);
    await stage.cancel();
    await stage.brain.clock.advance(9_999);
    expect(await stage.records('turn_failed')).toEqual([]);
    await stage.brain.clock.advance(1);
    await sending;

    const before = await stage.brain.journal(stage.sessionId);
    sent.answer(result('late'));
    sent.answer(result('twice'));
    await quiescence();
    expect(await stage.brain.journal(stage.sessionId)).toEqual(before);
  });

  it('T4: is not sent where its cancel is in the commit of its start', async () => {
    const asked = gate();
    const flush = gate();
    const stage: TurnStage = await stageWith(
      async (_input, host) => {
        plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId, times: 1 }, { start: flush.opened });
        void host.kv.put('first', 1);
        await quiescence();
        const running = host.dispatch([call('buy'), call('measure')]);
        await quiescence();
        asked.open();
        await running;
        return RETURNED;
      },
      waits,
    );
    const sending = stage.send();
    await asked.opened;
    const cancelled = stage.cancel();
    await quiescence();
    flush.open();
    await Promise.all([cancelled, sending]);

    expect(await stage.records('tool_call_started')).toHaveLength(2);
    expect(await stage.records('tool_call_ended')).toMatchObject([{ data: { outcome: 'cancelled' } }, { data: { outcome: 'cancelled' } }]);
    expect(invocations(stage)).toEqual([]);
  });

  it('T4: is let go of where the session is opened anew under it, and recovery says unknown', async () => {
    const { stage } = await dispatching(waits);
    const sending = stage.send();
    const sent = await invoked(stage);
    const fault = plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId, times: 1 }, { fails: 'EIO' });
    await stage.brain.sessions.changeMetadata(TENANT, stage.sessionId, { any: 'thing' }).catch(() => undefined);
    await sending.catch(() => undefined);
    fault.heal();
    await quiescence();

    expect(sent.closes).toEqual([null]);
    expect(await stage.records('tool_call_ended')).toMatchObject([{ data: { outcome: 'unknown' } }]);
    expect(invocations(stage)).toHaveLength(1);
  });

  it('tells its driver that nobody knows where the record of its answer fails', async () => {
    const { stage } = await dispatching(waits);
    const sending = stage.send();
    const sent = await invoked(stage);
    const fault = plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId, times: 1 }, { fails: 'EIO' });
    sent.answer(result('done'));
    await sending.catch(() => undefined);
    fault.heal();
    await quiescence();

    expect([sent.records, sent.closes]).toEqual([['journal_unavailable'], [null]]);
  });

  it.each<[string, (stage: TurnStage) => Promise<void> | void]>([
    ['missing', ({ brain, sessionId }) => brain.disk.boot().remove(`${DATA}/sessions/${sessionId}/credentials`)],
    ['damaged', ({ brain, sessionId }) => brain.disk.damage(`${DATA}/sessions/${sessionId}/credentials`, (bytes) => bytes.slice(0, -1))],
  ])('is not sent where the session\'s copy of the credential is %s, and the calls beside it are', async (_how, spoil) => {
    const { stage, answers } = await dispatching(() => result('done'), [call('buy'), call('measure')]);
    await spoil(stage);
    await stage.send();

    expect(answers).toMatchObject([{ outcome: 'error', sequence: null, output: expect.stringMatching(/credential shop_key/) }, { outcome: 'ok' }]);
    expect(invocations(stage).map(({ call: { operation } }) => operation.environment)).toEqual(['lab']);
    expect(JSON.stringify([answers, stage.brain.log])).not.toContain('canary');
  });

  it.each<[string, Receipt]>([
    ['its result', result({ [SECRET]: [`key ${SECRET}`, 'lone \ud800 and \u0000 NUL'] })],
    ['its failure', { type: 'failure', code: 'no', message: `\ud800\u0000${SECRET}`, retryable: false, details: { key: SECRET } }],
    ['what is known of it', unknown(`\u0000${SECRET}\ud800`)],
  ])('holds no secret and no broken text in %s', async (_what, receipt) => {
    const { stage, answers } = await dispatching(() => receipt);
    await stage.send();

    const told = JSON.stringify([answers, await stage.brain.journal(stage.sessionId)]);
    expect(told).toContain('[secret removed]');
    expect(told).toContain('\ufffd');
    expect(told).not.toMatch(/canary|\\u0000|\\ud800/);
  });

  it('keeps the credential of its environment a secret in use for as long as its turn, whatever became of the tenant\'s own', async () => {
    const { stage, answers } = await dispatching(() => result('done'), [call('buy'), call('act')], {
      tools: new ScriptedTools(['look', 'act'], () => SECRET),
    });
    await stage.brain.brain.credentials.delete(TENANT, 'shop_key');
    await stage.send();
    stage.play(async (_input, host) => {
      answers.push(...(await host.dispatch([call('act')])));
      return RETURNED;
    });
    await stage.send();

    expect(answers.map(({ output }) => output)).toEqual(['done', '[secret removed]', SECRET]);
  });

  it.each(['buy', 'act'])('S-057: of %s: nothing is recorded or sent for arguments that are no JSON, or not what its schema says', async (tool) => {
    const bad = [{ tool, tool_use_id: 'one', input_text: '{"count": 1' }, { tool, tool_use_id: 'two', input_text: '[1]' }];
    const { stage, answers } = await dispatching(() => result('done'), [...bad, call('buy', { count: 'many' }), call('measure', { count: 1 })]);
    await stage.send();

    expect(answers).toMatchObject([
      { outcome: 'error', sequence: null, output: expect.stringMatching(/^nothing was called: the arguments are not valid JSON/) },
      { outcome: 'error', sequence: null, output: expect.stringMatching(/^nothing was called: the arguments are refused: .*object/) },
      { outcome: 'error', sequence: null, output: expect.stringMatching(/count must be integer/) },
      { outcome: 'ok' },
    ]);
    expect(await stage.records('tool_call_started')).toMatchObject([{ data: { tool: 'measure' } }]);
    expect(stage.brain.tools.calls.all).toEqual([]);
    expect(invocations(stage)).toHaveLength(1);
  });

  it('shows its loop what a repeat would do', async () => {
    const effects: unknown[] = [];
    const stage = await stageWith(async ({ tools }) => {
      effects.push(...tools.map(({ name, effect }) => [name, effect]));
      return RETURNED;
    }, waits);
    await stage.send();

    expect(effects).toEqual([['buy', 'once'], ['find', 'read'], ['measure', 'idempotent'], ['act', 'once']]);
  });
});

describe('what an environment says while it carries a call out', () => {
  it('S-040, S-048, S-049: is an event of that call, recorded when it is told to be, whatever its data says', async () => {
    const { stage } = await dispatching(waits, [call('buy'), call('measure')]);
    const sending = stage.send();
    const [shop, lab] = await Promise.all([invoked(stage, 'shop'), invoked(stage, 'lab')]);
    await lab.call.listener?.emit('acme.note', { origin: { kind: 'agentloop', sequence: 1 } });

    expect(await stage.records('extension_emitted')).toMatchObject([
      { data: { name: 'acme.note', origin: { kind: 'tool', sequence: lab.call.operation.sequence } } },
    ]);
    shop.answer(result(1));
    lab.answer(result(2));
    await sending;
  });

  it.each(['session.ended', 'tool_call_ended', 'tool.result', 'environment.setup', 'note'])('S-044, S-045: is refused under %s', async (type) => {
    const { stage } = await dispatching(waits);
    const sending = stage.send();
    const sent = await invoked(stage);

    expect(await codeOf(sent.call.listener?.emit(type, {}) ?? Promise.resolve())).toBe('reserved_type');
    sent.answer(result(1));
    await sending;

    expect(await stage.records('extension_emitted')).toEqual([]);
  });

  it('S-041, S-042: fails the turn where it goes over the budget, and the call ends cancelled', async () => {
    const { stage } = await dispatching(waits, [call('buy')], { limits: { emittedBytes: MIB } });
    const sending = stage.send();
    const sent = await invoked(stage);
    await sent.call.listener?.emit('acme.note', 'x'.repeat(MIB - 100));

    expect(await codeOf(sent.call.listener?.emit('acme.note', 'x'.repeat(100)) ?? Promise.resolve())).toBe('too_large');

    expect(await sending).toMatchObject({ outcome: 'failed', error: { code: 'emitted_bytes_limit' } });
    const ended = await stage.records('tool_call_ended');
    expect(ended).toMatchObject([{ data: { outcome: 'cancelled' } }]);
    expect(sent.closes).toEqual([ended[0]?.sequence]);
  });

  it('S-188: is shown to live readers where it is progress, as clean as a result, and refused or dropped once the call has ended', async () => {
    const { stage } = await dispatching(waits, [call('buy')], { limits: { toolMs: 5_000 } });
    const reader = await LiveReader.of(stage.brain.sessions, stage.sessionId);
    const sending = stage.send();
    const sent = await invoked(stage);
    sent.call.listener?.progress({ message: `half of ${SECRET}\u0000`, fraction: 0.5 });
    await stage.brain.clock.advance(5_000);
    await sending;
    sent.call.listener?.progress({ message: 'late' });

    expect(await codeOf(sent.call.listener?.emit('acme.late', 'x'.repeat(2 * MIB)) ?? Promise.resolve())).toBe('already_closed');

    await quiescence();
    expect(reader.live.map(({ data }) => data)).toEqual([
      { started_sequence: sent.call.operation.sequence, message: 'half of [secret removed]', fraction: 0.5 },
    ]);
    expect(await stage.records('extension_emitted')).toEqual([]);
    expect(await stage.records('turn_ended')).toHaveLength(1);
  });
});
