/** Stopping a turn from the outside: everything that it is doing stops with it, and what does not is left behind. */
import { afterEach, describe, expect, it } from 'vitest';
import { faultsOf } from '../support/history.ts';
import { calls, says, silence } from '../support/openai-server.ts';
import { LOOPS, Stage } from '../support/stage.ts';

let stage: Stage;
afterEach(async () => stage.strike());

async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

describe.each(LOOPS)('a cancel of a turn of the loop %s', (loop) => {
  it('S-117, S-118: hangs up on the model within two seconds', async () => {
    stage = await Stage.set({
      loop,
      model: (call) => (call.index === 0 ? { parts: [{ text: 'Well' }, { wait: new Promise(() => undefined) }] } : says('Yes?')),
    });
    const { session_id: id } = await stage.create();
    const sent = stage.api.send(id, 'think for ever');
    const call = await stage.model.calls.at(0);

    await stage.api.cancel(id);

    await within(2000, 'hanging up', call.hungUp);
    expect(await sent).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' }, status: 'idle' });
    expect(await stage.api.send(id, 'hello?')).toMatchObject({ outcome: 'ended', result: { text: 'Yes?' } });
    expect(await stage.record(id, 'model_call_failed')).toMatchObject({ data: { outcome: 'cancelled' } });
    expect(faultsOf(await stage.api.journal(id))).toEqual([]);
  });

  it('S-118, S-119: reaches the tool within two seconds, and its call ends cancelled', async () => {
    stage = await Stage.set({
      loop,
      model: (call) => (call.index === 0 ? calls({ id: 'call_1', name: 'dig', arguments: '{}' }) : says('Yes?')),
      tools: [{ name: 'dig' }],
      tool: () => new Promise(() => undefined),
    });
    const { session_id: id } = await stage.create();
    const sent = stage.api.send(id, 'dig');
    const call = await stage.tools.calls.at(0);

    await stage.api.cancel(id);

    await within(2000, 'hanging up', call.hungUp);
    expect(await sent).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' }, status: 'idle' });
    expect(await stage.record(id, 'tool_call_ended')).toMatchObject({ data: { outcome: 'cancelled', is_error: true } });
    expect(await stage.api.send(id, 'hello?')).toMatchObject({ outcome: 'ended' });
    expect(stage.model.refusals).toEqual([]);
    expect(stage.tools.repeated).toEqual([]);
  });

  it('is not held up by a tool that ignores it, whose late answer is nobody\'s result', async () => {
    let answerLate = (_output: string): void => undefined;
    stage = await Stage.set({
      loop,
      model: (call) => (call.index === 0 ? calls({ id: 'call_1', name: 'deaf', arguments: '{}' }) : says('Yes?')),
      tools: [{ name: 'deaf', ignoresCancellation: true }],
      tool: () => new Promise<string>((resolve) => (answerLate = resolve)),
      environment: { BRAIN_CANCEL_SECS: '1' },
    });
    const { session_id: id } = await stage.create();
    const sent = stage.api.send(id, 'listen');
    await stage.tools.calls.at(0);

    await stage.api.cancel(id);
    expect(await within(5000, 'the end of the turn', sent)).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' } });
    expect(await stage.api.send(id, 'hello?')).toMatchObject({ outcome: 'ended' });
    const records = await stage.api.journal(id);
    answerLate('too late');
    expect(await stage.api.send(id, 'anything else?')).toMatchObject({ outcome: 'ended' });

    expect(records.filter(({ type }) => type === 'tool_call_ended')).toMatchObject([{ data: { outcome: 'cancelled' } }]);
    const later = await stage.api.journal(id);
    expect(later.slice(0, records.length)).toEqual(records);
    expect(JSON.stringify(later)).not.toContain('too late');
    expect(faultsOf(later)).toEqual([]);
    expect(stage.model.refusals).toEqual([]);
  });
});

describe('a cancel', () => {
  it('changes nothing where no turn runs, and does not reach the next one', async () => {
    stage = await Stage.set({ model: () => says('Undisturbed.') });
    const { session_id: id } = await stage.create();
    const records = await stage.api.journal(id);

    await stage.api.cancel(id);
    await stage.api.cancel(id);

    expect(await stage.api.journal(id)).toEqual(records);
    expect(await stage.api.send(id, 'hello')).toMatchObject({ outcome: 'ended', result: { text: 'Undisturbed.' } });
  });

  it('outlives the process: a turn that was to be cancelled is recorded so after a kill', async () => {
    stage = await Stage.set({
      model: (call) => (call.index === 0 ? calls({ id: 'call_1', name: 'deaf', arguments: '{}' }) : silence(call)),
      tools: [{ name: 'deaf', ignoresCancellation: true }],
      tool: () => new Promise(() => undefined),
    });
    const { session_id: id } = await stage.create();
    await stage.api.submit(id, 'listen');
    await stage.tools.calls.at(0);
    await stage.api.cancel(id);

    await stage.server.killAndStart();

    expect(await stage.record(id, 'turn_failed')).toMatchObject({ data: { code: 'cancelled' } });
    expect(faultsOf(await stage.api.journal(id))).toEqual([]);
  });
});
