/** Tools that run elsewhere, and a server that is killed under them: what is lost is told as unknown, once, and nothing is done again. */
import { afterEach, describe, expect, it } from 'vitest';
import { strictRefusal } from '../support/strict-messages.ts';
import type { Message } from '../../machines/messages.ts';
import { FAR_DRIVERS, FarStage } from '../support/far-stage.ts';
import { faultsOf } from '../support/history.ts';

let stage: FarStage;
afterEach(async () => stage.strike());

/** What each call of the session came to, in the order of the calls. */
async function outcomes(id: string): Promise<readonly unknown[]> {
  const blocks = (await stage.api.transcript(id)).flatMap(({ content }) => content);
  return blocks.filter(({ type }) => type === 'tool_result').map(({ outcome }) => outcome);
}

/** The results of tools in the last request to the model. */
function heard(): readonly unknown[] {
  return (stage.requests().at(-1) ?? []).filter(({ role }) => role === 'tool').map(({ content }) => content);
}

async function expectSound(id: string): Promise<void> {
  expect(faultsOf(await stage.api.journal(id))).toEqual([]);
  expect(strictRefusal((await stage.api.transcript(id)) as unknown as readonly Message[])).toBeNull();
  expect([stage.stage.model.refusals, stage.repeated]).toEqual([[], []]);
}

describe.each(FAR_DRIVERS)('a kill under tools that are reached by the driver %s', (driver) => {
  it.each(['hangs', 'waits'] as const)('S-034, S-103: leaves a call that %s unknown, once, in a request that a strict provider takes (cases 10, 11)', async (behaviour) => {
    stage = await FarStage.set({ driver });
    stage.script = ({ request }) => (request.type === 'invoke' ? behaviour : { type: 'accepted' });
    const { session_id: id } = await stage.create();
    await stage.api.submit(id, 'use tool');
    const call = await stage.called();

    await stage.killAndStart();
    expect(await stage.report(call, 'too late')).toBe('already_closed');
    expect(await stage.api.send(id, 'and now?')).toMatchObject({ outcome: 'ended', result: { text: 'Done.' } });

    expect(await outcomes(id)).toEqual(['unknown']);
    expect(heard()).toEqual([expect.stringContaining('may or may not have taken effect')]);
    expect(JSON.stringify([await stage.api.journal(id), stage.requests()])).not.toContain('too late');
    expect(stage.operations.all.map(({ request }) => request.type)).toEqual(['setup', 'invoke']);
    await expectSound(id);
  });

  it('leaves two results and one unknown of three calls at once, in the order of the calls (case 37)', async () => {
    stage = await FarStage.set({ driver, tools: ['one', 'two', 'three'] });
    stage.script = ({ request }) => {
      if (request.type !== 'invoke') return { type: 'accepted' };
      return request.tool === 'two' ? 'hangs' : { type: 'result', output: `${request.tool} is done` };
    };
    const { session_id: id } = await stage.create();
    await stage.api.submit(id, 'use one two three');
    const hanging = await stage.called('two');
    const ended = async (): Promise<number> => (await stage.api.journal(id)).filter(({ type }) => type === 'tool_call_ended').length;
    await expect.poll(ended, { timeout: 20_000 }).toBe(2);

    await stage.killAndStart();
    expect(await stage.report(hanging, 'too late')).toBe('already_closed');
    expect(await stage.api.send(id, 'and now?')).toMatchObject({ outcome: 'ended' });

    expect(await outcomes(id)).toEqual(['ok', 'unknown', 'ok']);
    expect(heard()).toEqual(['one is done', expect.stringContaining('may or may not have taken effect'), 'three is done']);
    await expectSound(id);
  });

  it('keeps every result that was taken, whenever the kill came', async () => {
    stage = await FarStage.set({ driver });
    stage.script = ({ request }) => (request.type === 'invoke' ? 'waits' : { type: 'accepted' });
    const taken: { readonly id: string; readonly output: string }[] = [];
    for (let round = 0; round < 4; round += 1) {
      const ids = await Promise.all(Array.from({ length: 8 }, async () => (await stage.create()).session_id));
      await Promise.all(ids.map((id) => stage.api.submit(id, 'use tool')));
      const operations = await Promise.all(ids.map((id) => stage.operations.first(({ request, session_id }) => request.type === 'invoke' && session_id === id)));
      const reports = operations.map(async (call) => {
        const output = `seat ${call.session_id}`;
        if ((await stage.report(call, output)) === null) taken.push({ id: call.session_id, output });
      });
      // The kill follows the first answer as closely as anything can.
      await Promise.race(reports);
      await stage.killAndStart();
      await Promise.allSettled(reports);
    }

    expect(taken.length).toBeGreaterThan(0);
    for (const { id, output } of taken) {
      const ends = (await stage.api.journal(id)).filter(({ type }) => type === 'tool_call_ended');
      expect(ends.map(({ data }) => [data['outcome'], data['output']]), id).toEqual([['ok', output]]);
    }
    expect(stage.repeated).toEqual([]);
  });
});

describe('a result that is lost while the server lives', () => {
  it('is unknown to the model, not a failure: the connection broke off half-way (case 11)', async () => {
    stage = await FarStage.set({ driver: 'http' });
    const { session_id: id } = await stage.create();
    stage.far.script = ({ operation }) => {
      stage.operations.add(operation);
      return { kind: 'breaks_off', body: '{"contract":"environment/v1","sequence":' };
    };

    expect(await stage.api.send(id, 'use tool')).toMatchObject({ outcome: 'ended' });

    expect(await outcomes(id)).toEqual(['unknown']);
    expect(heard()).toEqual([expect.stringContaining('may or may not have taken effect')]);
    await expectSound(id);
  });

  it('is unknown to the model, not a failure: the host came back as another process, which gets nothing of it (case 11)', async () => {
    stage = await FarStage.set({ driver: 'host' });
    stage.script = ({ request }) => (request.type === 'invoke' ? 'waits' : { type: 'accepted' });
    const { session_id: id } = await stage.create();
    const sent = stage.api.send(id, 'use tool');
    const call = await stage.called();

    await stage.host.restartAs('second');
    expect(await sent).toMatchObject({ outcome: 'ended' });
    expect(await stage.report(call, 'from the second')).toBe('already_closed');

    expect(await outcomes(id)).toEqual(['unknown']);
    expect(heard()).toEqual([expect.stringContaining('may or may not have taken effect')]);
    await expectSound(id);
  });
});
