/**
 * The sessions whose journals are kept in `fixtures/`, told as commands. A journal that is kept never changes, even where
 * its story would be written otherwise today: what it folds to must stay the same under every later version.
 *
 * To keep one more: add its story here, then `BRAIN_WRITE_FIXTURES=1 npx vitest run test/replay`, which writes the
 * journals that are missing and leaves the others alone.
 */
import type { EnvironmentResult, ToolCallStart } from '../../machines/commands.ts';
import type { Message } from '../../machines/messages.ts';
import type { Sequence, SessionCreated } from '../../machines/records.ts';
import { CREATED, environmentOf, messageOf, startTurn, Story } from '../support/session-story.ts';

const say = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] });

function created(how: Partial<SessionCreated> = {}, transcript: readonly Message[] = []): Story {
  const story = new Story();
  story.command({ kind: 'create', created: { ...CREATED, ...how }, transcript });
  return story;
}

function ask(story: Story, messages: readonly Message[]): Sequence {
  const message_sequence = messageOf(story);
  story.command({ kind: 'start_model_call', message_sequence, provider: 'demo', model: 'echo', messages, difference: {} });
  return story.state.lastSequence;
}

function answer(story: Story, started_sequence: Sequence, message: Message): void {
  const usage = { input_tokens: 12, output_tokens: 3 };
  const finish_reason = message.content.some(({ type }) => type === 'tool_use') ? 'tool_calls' : 'stop';
  story.command({ kind: 'end_model_call', message_sequence: messageOf(story), started_sequence, message, finish_reason, usage });
}

function callTools(story: Story, names: readonly string[]): readonly Sequence[] {
  const calls = names.map(
    (tool): ToolCallStart => ({ tool, tool_use_id: 'call_1', input_text: '{ }', deadline: 60_000, effect: 'read' }),
  );
  story.command({ kind: 'start_tool_calls', message_sequence: messageOf(story), calls });
  return names.map((_name, index) => story.state.lastSequence - names.length + 1 + index);
}

function endTurn(story: Story): void {
  const message_sequence = messageOf(story);
  story.command({ kind: 'close_turn', message_sequence, ending: { kind: 'returned' }, open: 'cancelled' });
}

function save(story: Story, messages: readonly Message[]): void {
  story.command({ kind: 'set_transcript', message_sequence: messageOf(story), messages });
}

/** One whole turn: asks a model and saves the conversation. */
function converse(story: Story, input: string): void {
  startTurn(story, input);
  const conversation = [...story.state.transcript.messages(), say(input)];
  const reply: Message = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', provider: { signature: '🦀é' } },
      { type: 'text', text: `You said: ${input}` },
    ],
  };
  answer(story, ask(story, conversation), reply);
  save(story, [...conversation, reply]);
  endTurn(story);
}

function simpleTurn(): Story {
  const story = created({}, [say('a seed')]);
  converse(story, '你好 hello');
  return story;
}

/** Three calls at once of one id; they end in another order, and one is left to the turn's end. */
function parallelTools(): Story {
  const story = created();
  startTurn(story, 'what time is it?');
  const use = { type: 'tool_use', id: 'call_1', name: 'clock', input_text: '{ }', input: {} } as const;
  const asking: Message = { role: 'assistant', content: [use, use, use] };
  answer(story, ask(story, [say('what time is it?')]), asking);
  const [first = 0, second = 0, third = 0] = callTools(story, ['clock', 'clock', 'clock']);
  const message_sequence = messageOf(story);
  story.command({ kind: 'emit', message_sequence, origin: { kind: 'tool', sequence: first }, name: 'clock.tick', data: { n: 1 } });
  story.command({ kind: 'end_tool_call', message_sequence, started_sequence: third, outcome: 'ok', output: { at: 3 } });
  story.command({ kind: 'end_tool_call', message_sequence, started_sequence: first, outcome: 'ok', output: 'one' });
  story.command({ kind: 'end_tool_call', message_sequence, started_sequence: second, outcome: 'timeout', output: 'late' });
  const result = (text: string, is_error: boolean, outcome: 'ok' | 'timeout') =>
    ({ type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text }], is_error, outcome }) as const;
  const results: Message = {
    role: 'user',
    content: [result('one', false, 'ok'), result('late', true, 'timeout'), result('{"at":3}', false, 'ok')],
  };
  save(story, [say('what time is it?'), asking, results]);
  story.command({ kind: 'put_kv', message_sequence, key: 'asked', value: null });
  endTurn(story);
  return story;
}

function cancelledTurn(): Story {
  const story = created({ surface: 'sessions', after_stop: 'hold' });
  startTurn(story, 'take your time');
  callTools(story, ['mail']);
  ask(story, [say('take your time')]);
  story.command({ kind: 'send', input: 'waits in vain', mode: 'queue' });
  story.command({ kind: 'cancel', by: 'caller' });
  endTurn(story);
  return story;
}

function failedHeldResumed(): Story {
  const story = created({ after_stop: 'hold', retain: 0 });
  converse(story, 'first');
  startTurn(story, 'second');
  const message_sequence = messageOf(story);
  story.command({ kind: 'put_kv', message_sequence, key: 'k', value: [1] });
  save(story, [say('everything rewritten')]);
  const ending = { kind: 'failed', code: 'model_error', message: 'the provider said no' } as const;
  story.command({ kind: 'close_turn', message_sequence, ending, open: 'unknown' });
  story.command({ kind: 'resume' });
  story.command({ kind: 'send', input: 'third', mode: 'sync' }, { wasResident: false });
  return story;
}

function recovered(): Story {
  const story = created();
  startTurn(story, 'send the mail');
  callTools(story, ['mail', 'clock']);
  ask(story, []);
  story.command({ kind: 'send', input: 'and another', mode: 'queue' });
  story.command({ kind: 'end', mode: 'wait' });
  story.recover();
  return story;
}

function queued(): Story {
  const story = created();
  startTurn(story, 'one');
  story.command({ kind: 'send', input: 'two', mode: 'queue' });
  story.command({ kind: 'send', input: [{ type: 'text', text: 'three' }], mode: 'queue' });
  const withdrawn = story.state.lastSequence;
  endTurn(story);
  story.record('message_withdrawn', { message_sequence: withdrawn });
  story.command({ kind: 'start_activation', message_sequence: messageOf(story), agentloop: 'chat' });
  endTurn(story);
  return story;
}

/** A session of the lifecycle surface: keys, a message withdrawn, a turn interrupted, resumed, and closed while it runs. */
function interruptedResumedClosed(): Story {
  const story = created({ surface: 'sessions', after_stop: 'hold' });
  const queue = (input: string, key: string): void => void story.command({ kind: 'send', input, mode: 'queue', key });
  const start = (): void => void story.command({ kind: 'start_activation', message_sequence: messageOf(story), agentloop: 'chat' });
  queue('one', 'k1');
  start();
  queue('two', 'k2');
  queue('three', '__proto__');
  story.command({ kind: 'withdraw', waiting: story.state.lastSequence });
  endTurn(story);
  start();
  queue('four', 'k4');
  story.command({ kind: 'cancel', by: 'caller' });
  endTurn(story);
  story.command({ kind: 'resume' }, { wasResident: false });
  queue('five', 'k5');
  start();
  callTools(story, ['clock']);
  queue('six', 'k6');
  story.command({ kind: 'end', mode: 'interrupt' });
  endTurn(story);
  return story;
}

function endedWhileRunning(): Story {
  const story = created({ retain: 60_000 });
  startTurn(story, 'the last');
  story.record('session_metadata_changed', { metadata: { title: 'the end' } });
  story.command({ kind: 'end', mode: 'wait' });
  story.command({ kind: 'end', mode: 'interrupt' });
  endTurn(story);
  story.record('request_answered', {});
  story.command({ kind: 'delete' });
  return story;
}

const ACCEPTED = { kind: 'done', receipt: { type: 'accepted' } } as const;

function endOperation(story: Story, started_sequence: Sequence, result: EnvironmentResult): void {
  story.command({ kind: 'end_environment_operation', started_sequence, result });
}

/** Environments set up, detached and torn down, one of each badly; the process dies in the teardown. */
function environments(): Story {
  const story = created({ environments: [environmentOf('laptop'), environmentOf('sandbox', 'http')] });
  endOperation(story, 3, { kind: 'done', receipt: { type: 'result', output: { ready: true } } });
  endOperation(story, 2, ACCEPTED);
  converse(story, 'hello');
  story.command({ kind: 'end', mode: 'wait' });
  const ending = story.state.lastSequence;
  endOperation(story, ending, { kind: 'failed', outcome: 'unknown', code: 'unknown', message: 'no answer' });
  endOperation(story, ending - 1, ACCEPTED);
  story.command({ kind: 'delete' });
  endOperation(story, story.state.lastSequence, ACCEPTED);
  story.recover();
  return story;
}

/** A creation that an environment refuses; what another one may have kept of it is torn down by a second delete. */
function environmentRefused(): Story {
  const story = created({ environments: [environmentOf('laptop'), environmentOf('phone'), environmentOf('sandbox', 'http')] });
  endOperation(story, 2, { kind: 'failed', outcome: 'failed', code: 'no_room', message: 'no room for a session' });
  endOperation(story, 3, ACCEPTED);
  endOperation(story, 4, { kind: 'failed', outcome: 'unknown', code: 'unknown', message: 'no answer' });
  story.command({ kind: 'delete' });
  endOperation(story, story.state.lastSequence, { kind: 'failed', outcome: 'failed', code: 'busy', message: 'in use' });
  endOperation(story, story.state.lastSequence - 2, ACCEPTED);
  story.command({ kind: 'delete' });
  endOperation(story, story.state.lastSequence, ACCEPTED);
  return story;
}

export const STORIES: Readonly<Record<string, () => Story>> = {
  'simple-turn': simpleTurn,
  'parallel-tools': parallelTools,
  'cancelled-turn': cancelledTurn,
  'failed-held-resumed': failedHeldResumed,
  recovered,
  queued,
  'ended-while-running': endedWhileRunning,
  'interrupted-resumed-closed': interruptedResumedClosed,
  environments,
  'environment-refused': environmentRefused,
};
