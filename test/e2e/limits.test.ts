/** The bounds of a turn, as an operator sets them: each reaches the turns of the server that it is given to. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf } from '../support/history.ts';
import { calls, silence, type ModelScript } from '../support/openai-server.ts';
import { LOOPS, Stage } from '../support/stage.ts';

const hungTool = calls({ id: 'call_1', name: 'hung', arguments: '{}' });
const emitMany = calls({ id: 'call_1', name: 'emit_many', arguments: '{"count":100,"characters":100}' });

/** Does for ever what the message says. */
const script: ModelScript = (call) => {
  const said = JSON.stringify(call.request.messages.find(({ role }) => role === 'user')?.content);
  if (said.includes('emit')) return emitMany;
  if (said.includes('hang')) return hungTool;
  return said.includes('ask') ? calls({ id: 'call_1', name: 'quick', arguments: '{}' }) : silence(call);
};

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.set({
    model: script,
    tools: [{ name: 'hung' }, { name: 'quick' }],
    tool: ({ tool }) => (tool === 'hung' ? new Promise(() => undefined) : 'done'),
    environment: {
      BRAIN_MAX_MODEL_CALLS: '2',
      BRAIN_MAX_TURN_SECS: '4',
      BRAIN_MAX_TOOL_SECS: '1',
      BRAIN_MAX_EMITTED_BYTES: '1000',
    },
  });
});

afterAll(async () => stage.strike());

describe('a server with bounds of its own', () => {
  it.each(LOOPS)('S-109: stops a turn of the loop %s at BRAIN_MAX_MODEL_CALLS', async (loop) => {
    const { session_id: id } = await stage.create({ agentloop: { name: loop } });

    expect(await stage.api.send(id, 'ask again')).toMatchObject({ outcome: 'failed', error: { code: 'model_call_limit' } });

    expect((await stage.api.journal(id)).filter(({ type }) => type === 'model_call_started')).toHaveLength(2);
  });

  it('S-110: cancels a turn after BRAIN_MAX_TURN_SECS', async () => {
    const { session_id: id } = await stage.create();

    expect(await stage.api.send(id, 'think')).toMatchObject({ outcome: 'failed', error: { code: 'turn_timeout' } });

    const started = await stage.record(id, 'turn_started');
    const cancelled = await stage.record(id, 'turn_cancel_requested');
    expect((cancelled?.recorded_at ?? 0) - (started?.recorded_at ?? 0)).toBeGreaterThanOrEqual(3_900);
    expect(cancelled?.data).toMatchObject({ by: 'deadline' });
  });

  it('S-111: gives each tool call BRAIN_MAX_TOOL_SECS, and ends it then', async () => {
    const { session_id: id } = await stage.create();

    await stage.api.send(id, 'hang');

    const records = await stage.api.journal(id);
    const started = records.filter(({ type }) => type === 'tool_call_started');
    expect(started.length).toBeGreaterThan(0);
    for (const { data, recorded_at } of started) {
      // The deadline is settled first and recorded after it, and a busy machine can be some milliseconds between the two.
      const left = Number(data['deadline']) - recorded_at;
      expect(left).toBeGreaterThan(500);
      expect(left).toBeLessThanOrEqual(1_000);
    }
    expect(records.find(({ type }) => type === 'tool_call_ended')?.data).toMatchObject({ started_sequence: started[0]?.sequence, outcome: 'timeout' });
    expect(faultsOf(records)).toEqual([]);
  });

  it('S-041: lets no turn emit more than BRAIN_MAX_EMITTED_BYTES', async () => {
    const { session_id: id } = await stage.create({ tools: ['emit_many'] });

    expect(await stage.api.send(id, 'emit')).toMatchObject({ outcome: 'failed', error: { code: 'emitted_bytes_limit' } });

    const emitted = (await stage.api.events(id)).filter(({ type }) => type === 'test.filler');
    expect(emitted.length).toBeGreaterThan(0);
    expect(emitted.length).toBeLessThan(10);
  });
});
