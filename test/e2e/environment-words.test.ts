/** What environments and hosts say, and what becomes of it: nothing that they say breaks a later request, or passes for Brain's own. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Receipt } from '../../services/environments/operation.ts';
import { FAR_DRIVERS, FarStage } from '../support/far-stage.ts';
import { faultsOf } from '../support/history.ts';

let stage: FarStage;
afterEach(async () => stage.strike());

const BROKEN = 'a\ud83eb\u0000c\udc69d';
const WHOLE = 'a\ufffdbc\ufffdd';
/** By the tool that answers so. */
const BROKEN_RECEIPTS: Readonly<Record<string, Receipt>> = {
  text: { type: 'result', output: BROKEN },
  depths: { type: 'result', output: { [BROKEN]: [BROKEN] } },
  failure: { type: 'failure', code: 'full', message: BROKEN, retryable: false },
  unknown: { type: 'unknown', message: BROKEN },
};
/** Names of Brain's own: of its records, of its live events, and of what it sets aside. */
const OWN_NAMES = ['turn_ended', 'session.ended', 'session.status', 'assistant.message', 'tool.result', 'brain.anything'];

describe.each(FAR_DRIVERS)('what an environment of the driver %s says', (driver) => {
  it('is well-formed in every later request, wherever in a receipt it stands (case 34)', async () => {
    stage = await FarStage.set({ driver, tools: Object.keys(BROKEN_RECEIPTS) });
    stage.script = ({ request }) => (request.type === 'invoke' ? (BROKEN_RECEIPTS[request.tool] ?? 'waits') : { type: 'accepted' });
    const { session_id: id } = await stage.create();

    expect(await stage.api.send(id, `use ${Object.keys(BROKEN_RECEIPTS).join(' ')}`)).toMatchObject({ outcome: 'ended' });
    expect(await stage.api.send(id, 'and now?')).toMatchObject({ outcome: 'ended' });
    await stage.killAndStart();
    expect(await stage.api.send(id, 'and after a kill?')).toMatchObject({ outcome: 'ended' });

    const [, ...later] = stage.requests();
    expect(later).toHaveLength(3);
    for (const messages of later) {
      const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
      expect(results).toHaveLength(4);
      for (const result of results) expect(result).toContain(WHOLE);
      expect(JSON.stringify(messages)).not.toMatch(/\\u0000|\\ud83e|\\udc69/);
    }
    expect(stage.stage.model.refusals).toEqual([]);
    expect(faultsOf(await stage.api.journal(id))).toEqual([]);
  });

  it('is no event under a name of Brain\'s, and its own are there once, with the call that they come from (case 39)', async () => {
    stage = await FarStage.set({ driver });
    stage.script = ({ request }) => (request.type === 'invoke' ? 'waits' : { type: 'accepted' });
    const { session_id: id } = await stage.create();
    const sent = stage.api.send(id, 'use tool');
    const call = await stage.called();

    for (const name of OWN_NAMES) expect([name, await stage.emit(call, name, 'forged')]).toEqual([name, 'reserved_type']);
    expect(await stage.emit(call, 'far.seat_taken', { seat: '1A', origin: 'me' })).toBeNull();
    expect(await stage.report(call, 'booked')).toBeNull();
    expect(await stage.report(call, 'booked again')).toBe('already_closed');
    expect(await sent).toMatchObject({ outcome: 'ended' });

    const events = await stage.api.events(id);
    expect(events.filter(({ type }) => type === 'far.seat_taken')).toMatchObject([{ data: { seat: '1A', origin: 'me' }, origin: { kind: 'tool', sequence: call.sequence } }]);
    expect(JSON.stringify(await stage.api.journal(id))).not.toMatch(/forged|booked again/);
  });
});
