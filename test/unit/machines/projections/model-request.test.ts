import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/messages.ts';
import { modelRequestAt } from '../../../../machines/projections/model-request.ts';
import type { RequestDifference } from '../../../../machines/records.ts';
import { CREATED, storyAtWork, type Story } from '../../../support/session-story.ts';

const say = (text: string, role: Message['role'] = 'user'): Message => ({ role, content: [{ type: 'text', text }] });

function call(story: Story, messages: readonly Message[], difference: RequestDifference = {}): number {
  const message_sequence = story.state.context.turn?.message_sequence ?? 0;
  story.command({ kind: 'start_model_call', message_sequence, provider: 'demo', model: 'echo', messages, difference });
  return story.state.lastSequence;
}

describe('modelRequestAt', () => {
  it('S-079, S-080: gives the request back after the transcript was compacted and the session resumed', () => {
    const { story, message } = storyAtWork({ after_stop: 'hold' });
    story.command({ kind: 'set_transcript', message_sequence: message, messages: [say('hello'), say('hi', 'assistant')] });
    const request = [say('hello'), say('hi', 'assistant'), say('and now?')];
    const sequence = call(story, request);
    story.command({ kind: 'set_transcript', message_sequence: message, messages: [say('a summary')] });
    story.recover();
    story.command({ kind: 'resume' });

    expect(modelRequestAt(story.records, sequence)).toEqual({
      provider: 'demo',
      model: 'echo',
      system: 'be brief',
      messages: request,
      tools: CREATED.tools,
      parameters: {},
    });
  });

  it('S-081: records a side call that has nothing of the conversation in the same form', () => {
    const { story, message } = storyAtWork();
    story.command({ kind: 'set_transcript', message_sequence: message, messages: [say('hello'), say('hi', 'assistant')] });
    const sequence = call(story, [say('give this conversation a title')], { system: null, tools: [] });

    expect(story.records.at(-1)?.data).toMatchObject({ message_count: 1, context: { delta: { from: 0 } } });
    expect(modelRequestAt(story.records, sequence)).toMatchObject({
      messages: [say('give this conversation a title')],
      system: null,
      tools: [],
    });
  });

  it('S-080: gives back what differed from the configuration, in its order', () => {
    const { story } = storyAtWork();
    const sequence = call(story, [], { system: '', tools: ['mail', 'clock'], parameters: { temperature: 0 } });

    expect(modelRequestAt(story.records, sequence)).toMatchObject({
      messages: [],
      system: '',
      tools: [{ name: 'mail' }, { name: 'clock' }],
      parameters: { temperature: 0 },
    });
  });

  it('S-078, S-082: copies no conversation into a call: one that asks with the transcript as it is has no delta', () => {
    const { story, message } = storyAtWork();
    const conversation = Array.from({ length: 50 }, (_, index) => say(`${index} ${'x'.repeat(1_000)}`));
    story.command({ kind: 'set_transcript', message_sequence: message, messages: conversation });
    call(story, conversation);
    call(story, [...conversation, say('one more')]);

    expect(story.records.at(-2)?.data).toMatchObject({ message_count: 50, context: { delta: null } });
    expect(JSON.stringify(story.records.at(-1)).length).toBeLessThan(400);
  });

  it('S-055: refers to the record that holds a message and does not copy it', () => {
    const { story, message } = storyAtWork();
    call(story, [say('hello')]);

    expect(story.records.at(-1)?.data).toMatchObject({ context: { delta: { from: 0, messages: [{ sequences: [message] }] } } });
  });

  it('answers null for a record that is no model call, and for one that is not there', () => {
    const { story } = storyAtWork();

    expect([modelRequestAt(story.records, 1), modelRequestAt(story.records, 99)]).toEqual([null, null]);
  });
});
