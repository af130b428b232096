/** Stopping a turn whose tool runs elsewhere: what runs there is told once, and what does not stop is left behind. */
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { FAR_DRIVERS, FarStage } from '../support/far-stage.ts';
import { faultsOf } from '../support/history.ts';
import { calls } from '../support/openai-server.ts';

let stage: FarStage;
afterEach(async () => stage.strike());

async function expectSound(id: string): Promise<void> {
  expect(faultsOf(await stage.api.journal(id))).toEqual([]);
  expect([stage.stage.model.refusals, stage.repeated]).toEqual([[], []]);
}

/** What the environment was asked, cancels of a host's included. */
function asked(): readonly string[] {
  return [...stage.operations.all.map(({ request }) => request.type), ...stage.host.cancels.all.map(({ type }) => type)];
}

describe('a cancel under a tool over HTTP', () => {
  it('S-118, S-119: closes its connection within two seconds, and forwards the cancel once (case 21)', async () => {
    stage = await FarStage.set({ driver: 'http' });
    stage.script = ({ request }) => (request.type === 'invoke' ? 'hangs' : { type: 'accepted' });
    const { session_id: id } = await stage.create();
    const sent = stage.api.send(id, 'use tool');
    const { hungUp, operation } = await stage.far.first('invoke');

    const before = performance.now();
    await stage.api.cancel(id);
    await hungUp;
    expect(performance.now() - before).toBeLessThan(2000);
    expect(await sent).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' }, status: 'idle' });
    await stage.api.cancel(id);
    expect(await stage.api.send(id, 'and now?')).toMatchObject({ outcome: 'ended' });

    const ended = await stage.stage.record(id, 'tool_call_ended');
    expect(ended).toMatchObject({ data: { outcome: 'cancelled' } });
    const cancels = stage.operations.all.filter(({ request }) => request.type === 'cancel');
    expect(cancels).toMatchObject([{ sequence: ended?.sequence, request: { type: 'cancel', target_sequence: operation.sequence } }]);
    await expectSound(id);
  });
});

describe('a cancel under a tool of a host', () => {
  it('S-119: is told to the process once, and the turn is over when the process says that it has stopped (case 21)', async () => {
    stage = await FarStage.set({ driver: 'host' });
    stage.script = ({ request }) => (request.type === 'invoke' ? 'waits' : { type: 'accepted' });
    const { session_id: id } = await stage.create();
    const sent = stage.api.send(id, 'use tool');
    const call = await stage.called();

    const before = performance.now();
    await stage.api.cancel(id);
    expect(await stage.host.cancels.at(0)).toEqual({ type: 'cancel', session_id: id, sequence: call.sequence });
    expect(performance.now() - before).toBeLessThan(2000);
    expect(await stage.report(call, 'stopped')).toBe('already_closed');
    // Its bound is ten seconds: the word of the process was enough.
    expect(await sent).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' }, status: 'idle' });
    expect(performance.now() - before).toBeLessThan(8000);

    expect(await stage.stage.record(id, 'tool_call_ended')).toMatchObject({ data: { outcome: 'cancelled' } });
    expect(asked()).toEqual(['setup', 'invoke', 'cancel']);
    await expectSound(id);
  });
});

describe.each(FAR_DRIVERS)('a tool of the driver %s that ignores its cancel', (driver) => {
  it('S-117: holds the session for the cleanup bound and no longer, and its late answer is refused and recorded nowhere (case 22)', async () => {
    stage = await FarStage.set({ driver, environment: { BRAIN_CANCEL_SECS: '1' } });
    // A cancel is never answered either.
    stage.script = ({ request }) => (request.type === 'invoke' ? 'waits' : request.type === 'cancel' ? 'hangs' : { type: 'accepted' });
    const { session_id: id } = await stage.create();
    const sent = stage.api.send(id, 'use tool');
    const call = await stage.called();

    const before = performance.now();
    await stage.api.cancel(id);
    expect(await sent).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' }, status: 'idle' });
    expect(performance.now() - before).toBeGreaterThan(900);
    const last = (await stage.api.session(id)).last_sequence;
    expect(await stage.report(call, 'too late')).toBe('already_closed');
    expect(await stage.emit(call, 'far.late', 'too late')).toBe('already_closed');
    expect((await stage.api.session(id)).last_sequence).toBe(last);
    expect(await stage.api.send(id, 'and now?')).toMatchObject({ outcome: 'ended' });

    expect(JSON.stringify([await stage.api.journal(id), stage.requests()])).not.toContain('too late');
    expect(asked()).toEqual(['setup', 'invoke', 'cancel']);
    await expectSound(id);
  });

  it('S-120: is over at its deadline, which the environment hears of, and a timeout is what the model hears', async () => {
    stage = await FarStage.set({ driver, environment: { BRAIN_MAX_TOOL_SECS: '1', BRAIN_CANCEL_SECS: '1' } });
    stage.script = ({ request }) => (request.type === 'invoke' ? 'hangs' : { type: 'accepted' });
    const { session_id: id } = await stage.create();

    expect(await stage.api.send(id, 'use tool')).toMatchObject({ outcome: 'ended' });

    expect(await stage.stage.record(id, 'tool_call_ended')).toMatchObject({ data: { outcome: 'timeout' } });
    await eventually(async () => (asked().length === 3 ? true : undefined), 'the cancel');
    expect(asked()).toEqual(['setup', 'invoke', 'cancel']);
    expect(await stage.report(await stage.called(), 'too late')).toBe('already_closed');
    await expectSound(id);
  });
});

describe('a provider that is cut off', () => {
  it('while it asks for a tool: nothing is called, nothing of it is kept, and the next message works (cases 36, 38)', async () => {
    let cut = true;
    stage = await FarStage.set({
      driver: 'http',
      model: ({ request, ...call }) => {
        const [asked] = request.messages.slice(-1);
        if (asked?.content === 'cut' && cut) {
          cut = false;
          return { parts: [{ text: 'I will ' }, { toolCall: { id: 'call_0', name: 'tool', arguments: '{"half":' } }, { cut: true }] };
        }
        if (asked?.content === 'broken') return calls({ id: 'call_1', name: 'tool', arguments: '{"half": "of' });
        return { parts: [{ text: `Done ${call.index}.` }] };
      },
    });
    const { session_id: id } = await stage.create();

    expect(await stage.api.send(id, 'cut')).toMatchObject({ outcome: 'failed', status: 'idle' });
    expect(stage.requests()).toHaveLength(1);
    expect(JSON.stringify(await stage.api.transcript(id))).not.toContain('I will');
    expect(await stage.api.send(id, 'broken')).toMatchObject({ outcome: 'ended' });

    expect(asked()).toEqual(['setup']);
    const uses = (await stage.api.transcript(id)).flatMap(({ content }) => content).filter(({ type }) => type === 'tool_use');
    expect(uses).toMatchObject([{ input_text: '{"half": "of' }]);
    await expectSound(id);
  });
});
