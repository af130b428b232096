/** What providers send in reality: characters in halves, arguments in halves, answers in halves, and refusals. */
import { afterEach, describe, expect, it } from 'vitest';
import { faultsOf } from '../support/history.ts';
import { calls, says } from '../support/openai-server.ts';
import { SseReader } from '../support/sse-reader.ts';
import { LOOPS, Stage } from '../support/stage.ts';

let stage: Stage;
afterEach(async () => stage.strike());

describe.each(LOOPS)('with the loop %s, a model that', (loop) => {
  it('sends its bytes one at a time is understood to the last character, in text and in arguments', async () => {
    const text = '你好🦀é and 👩‍👩‍👧';
    const input = { said: text };
    stage = await Stage.set({
      loop,
      model: (call) =>
        call.index === 0
          ? { bytesPerWrite: 1, parts: [{ text }, { toolCall: { id: 'call_1', name: 'repeat', arguments: JSON.stringify(input) } }] }
          : { bytesPerWrite: 1, parts: [{ text }] },
      tools: [{ name: 'repeat' }],
      tool: () => text,
    });
    const { session_id: id } = await stage.create();
    const reader = await SseReader.open(`${stage.server.url}/v1/sessions/${id}/events`);

    expect(await stage.api.send(id, text)).toMatchObject({ outcome: 'ended', result: { text } });
    await reader.nextOf('turn_ended');
    reader.close();

    expect(stage.tools.calls.all[0]?.input).toEqual(input);
    expect(await stage.api.transcript(id)).toMatchObject([
      { role: 'user', content: [{ type: 'text', text }] },
      { role: 'assistant', content: [{ type: 'text', text }, { type: 'tool_use', input_text: JSON.stringify(input), input }] },
      { role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', text }] }] },
      { role: 'assistant', content: [{ type: 'text', text }] },
    ]);
    const deltas = reader.frames.filter(({ event }) => event === 'model_delta').map(({ data }) => JSON.parse(data) as { text?: string });
    expect(deltas.map((delta) => delta.text ?? '').join('')).toBe(text + text);
  });

  it('breaks off its arguments is told so: nothing is dispatched, and the raw text is kept', async () => {
    const broken = '{"amount":1000,"to":"al';
    stage = await Stage.set({
      loop,
      model: (call) => (call.index === 0 ? calls({ id: 'call_1', name: 'pay', arguments: broken }) : says('Never mind.')),
      tools: [{ name: 'pay' }],
    });
    const { session_id: id } = await stage.create();

    expect(await stage.api.send(id, 'pay')).toMatchObject({ outcome: 'ended', result: { text: 'Never mind.' } });

    expect(stage.tools.calls.all).toEqual([]);
    const transcript = await stage.api.transcript(id);
    expect(transcript[1]?.content).toEqual([{ type: 'tool_use', id: 'call_1', name: 'pay', input_text: broken }]);
    expect(transcript[2]?.content).toMatchObject([{ type: 'tool_result', is_error: true, outcome: 'error' }]);
    expect(stage.model.calls.all).toHaveLength(2);
    expect(stage.model.refusals).toEqual([]);
  });

  it('S-034, S-123: drops the connection is asked once, leaves nothing of its answer, and answers the next message', async () => {
    const words = Array.from({ length: 10 }, (_, index) => ({ text: `word${index} ` }));
    stage = await Stage.set({ loop, model: (call) => (call.index === 0 ? { parts: [...words, { cut: true }] } : says('Here again.')) });
    const { session_id: id } = await stage.create();

    expect(await stage.api.send(id, 'talk')).toMatchObject({ outcome: 'failed', error: { code: 'model_unknown' }, status: 'idle' });
    expect(stage.model.calls.all).toHaveLength(1);
    expect(JSON.stringify(await stage.api.transcript(id))).not.toContain('word0');
    expect(JSON.stringify(await stage.api.journal(id))).not.toContain('word0');

    expect(await stage.api.send(id, 'and now?')).toMatchObject({ outcome: 'ended', result: { text: 'Here again.' } });
    expect(faultsOf(await stage.api.journal(id))).toEqual([]);
    expect(stage.model.refusals).toEqual([]);
  });
});

describe('a model that', () => {
  it.each([400, 401, 429, 500, 503])('S-034: refuses with %i is asked once, and the turn says that it failed', async (status) => {
    stage = await Stage.set({ model: (call) => (call.index === 0 ? { status, message: 'not now' } : says('Here again.')) });
    const { session_id: id } = await stage.create();

    expect(await stage.api.send(id, 'talk')).toMatchObject({ outcome: 'failed', error: { code: 'model_error' } });
    expect(stage.model.calls.all).toHaveLength(1);
    expect(await stage.record(id, 'model_call_failed')).toMatchObject({ data: { outcome: 'failed' } });

    expect(await stage.api.send(id, 'and now?')).toMatchObject({ outcome: 'ended' });
  });
});
