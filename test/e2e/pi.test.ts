/** The agent loop of pi in the built server. That it keeps what every loop keeps, the tests of turns hold for both. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { faultsOf } from '../support/history.ts';
import { says, silence } from '../support/openai-server.ts';
import { Stage } from '../support/stage.ts';

const BUILT_LOOP = path.resolve(import.meta.dirname, '../../dist/services/loops/pi-agent-core.js');

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.strike();
  stage = undefined;
});

describe('the loop pi', () => {
  it('L-034: answers with the model, the instructions and the parameters that its session has', async () => {
    stage = await Stage.set({ loop: 'pi', model: ({ index }) => says(`Answer ${index}.`) });
    const { session_id: id } = await stage.create({
      agentloop: { name: 'pi', configuration: { reasoning_effort: 'low', max_output_tokens: 50, temperature: 0.5 } },
      model: { provider: 'openai', name: 'gpt-4.1-mini' },
      system: 'Answer in one paragraph.',
      tools: [],
    });

    expect(await stage.api.send(id, 'Summarize our plan.')).toMatchObject({ outcome: 'ended', result: { text: 'Answer 0.' } });
    await stage.server.killAndStart();
    expect(await stage.api.send(id, 'Shorter.')).toMatchObject({ outcome: 'ended', result: { text: 'Answer 1.' } });

    expect(stage.model.calls.all[1]?.request).toMatchObject({
      model: 'gpt-4.1-mini',
      reasoning_effort: 'low',
      max_tokens: 50,
      temperature: 0.5,
      messages: [
        { role: 'system', content: 'Answer in one paragraph.' },
        { role: 'user', content: 'Summarize our plan.' },
        { role: 'assistant', content: 'Answer 0.' },
        { role: 'user', content: 'Shorter.' },
      ],
    });
    expect(stage.model.refusals).toEqual([]);
  });

  it('L-034: needs no model of one\'s own: the demo calls its tools on it too', async () => {
    stage = await Stage.set({ model: silence });
    const { session_id: id } = await stage.api.create({ agentloop: { name: 'pi' } });

    const answer = await stage.api.send(id, 'What is 20 + 22, and what time is it?');

    expect(answer).toMatchObject({ outcome: 'ended', result: { text: expect.stringContaining('42') } });
    const records = await stage.api.journal(id);
    expect(records.filter(({ type }) => type === 'tool_call_started').map(({ data }) => data['tool'])).toEqual(['add', 'current_time']);
    expect(faultsOf(records)).toEqual([]);
  });

  it('L-102: sees after a resume what was there when its last turn was completed, and nothing of the stopped one', async () => {
    stage = await Stage.set({ loop: 'pi', model: (call) => (call.index === 1 ? silence(call) : says(`Answer ${call.index}.`)) });
    const { session_id: id } = await stage.create({ after_stop: 'hold' });
    await stage.api.send(id, 'One.');
    const stopped = stage.api.send(id, 'Two.');
    await stage.model.calls.at(1);
    await stage.api.cancel(id);
    expect(await stopped).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' }, status: 'interrupted' });

    expect((await stage.api.request('POST', `/v1/sessions/${id}/resume`)).status).toBe(200);
    expect(await stage.api.send(id, 'Three.')).toMatchObject({ outcome: 'ended', result: { text: 'Answer 2.' } });

    expect(stage.model.calls.all[2]?.request.messages).toEqual([
      { role: 'user', content: 'One.' },
      { role: 'assistant', content: 'Answer 0.' },
      { role: 'user', content: 'Three.' },
    ]);
    expect((await stage.api.transcript(id)).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('is built with its loop in it, and with the licence of that, so that no package of pi is needed', async () => {
    const built = await readFile(BUILT_LOOP, 'utf8');

    expect(built).toContain('async function runAgentLoop(');
    expect(built).toMatch(/MIT License[^]*Copyright \(c\) \d{4} Mario Zechner[^]*WITHOUT WARRANTY/);
    expect(built).not.toMatch(/^\s*(?:import\b|export\b[^;]*\bfrom\b)|\bimport\(|\brequire\(/m);
  });
});
