/** How models and tools answer, or do not. */
import type { Block, JsonValue } from '../../machines/messages.ts';
import type { FinishReason } from '../../machines/records.ts';
import type { ModelOutcome } from '../../services/models/model-provider.ts';
import type { Detail } from './choices.ts';
import type { PendingModelCall, PendingToolCall } from './effects-port.ts';
import type { World } from './world.ts';

// Long enough that a few of them make a journal outgrow its checkpoint.
const LONG_TEXT = 'a long answer '.repeat(300);

export function answerEffect(world: World, detail: Detail): boolean {
  const { pending } = world.effects;
  const effect = pending[detail.below(pending.length)];
  if (effect === undefined) return false;
  if (effect.kind === 'model') answerModel(world, effect, detail);
  else answerTool(world, effect, detail);
  return true;
}

/** The plainest answer, for the end of a run. */
export function answerPlainly(world: World): boolean {
  const [effect] = world.effects.pending;
  if (effect === undefined) return false;
  world.effects.remove(effect);
  if (effect.kind === 'model') effect.answer(said('done'));
  else effect.answer('done');
  return true;
}

function answerModel(world: World, call: PendingModelCall, detail: Detail): void {
  const session = call.request.model.name;
  const late = call.signal.aborted ? ', after it was told to stop' : '';
  const give = (what: string, outcome: ModelOutcome): void => {
    world.say(`the model of ${session} ${what}${late}`);
    if (late !== '') world.coverage.failure('late answer of a model');
    if (outcome.outcome !== 'ended') world.coverage.failure(`model: ${outcome.outcome}`);
    world.effects.remove(call);
    call.answer(outcome);
  };
  switch (detail.below(12)) {
    case 0:
      give('answers', said('hello'));
      return;
    case 1:
      give('asks for a tool', asking([['look', '{"a":1}']]));
      return;
    case 2:
      give('asks for two tools', asking([['look', '{"a":1}'], ['act', '']]));
      return;
    case 3:
      world.say(`the model of ${session} says a piece${late}`);
      call.say({ text: 'he' });
      return;
    case 4:
      give('fails', { outcome: 'failed', code: 'model_unavailable', message: 'no' });
      return;
    case 5:
      give('breaks off', { outcome: 'unknown', code: 'connection_lost', message: 'the stream ended early' });
      return;
    case 6:
      give('is cut off', asking([['look', '{"a":1}']], 'length'));
      return;
    case 7:
      give('asks for tools that are not there, with arguments that are no JSON', asking([['nothing', '{}'], ['look', '{"a":']]));
      return;
    case 8:
      give('answers at length', said(LONG_TEXT));
      return;
    case 9:
      world.say(`the model of ${session} answers twice${late}`);
      world.coverage.failure('second answer of a model');
      world.effects.remove(call);
      call.answer(said('first'));
      call.answer(said('second'));
      call.say({ text: 'after the end' });
      return;
    case 10:
      world.say(`the provider of ${session} rejects, which it never should${late}`);
      world.coverage.failure('provider that rejects');
      world.effects.remove(call);
      call.fail(new Error('a bug of the provider'));
      return;
    default:
      give(call.signal.aborted ? 'closes the connection' : 'says nothing', call.signal.aborted ? { outcome: 'cancelled', code: 'cancelled', message: 'closed' } : said(''));
  }
}

function answerTool(world: World, call: PendingToolCall, detail: Detail): void {
  const late = call.context.signal.aborted ? ', after it was told to stop' : '';
  const name = `${call.tool} of ${world.labelOf(call.context.session_id)} ${call.context.sequence}`;
  if (late !== '') world.coverage.failure('late answer of a tool');
  const give = (what: string, output: JsonValue): void => {
    world.say(`${name} ${what}${late}`);
    world.effects.remove(call);
    call.answer(output);
  };
  switch (detail.below(8)) {
    case 0:
      give('answers', 'done');
      return;
    case 1:
      give('answers with nothing', null);
      return;
    case 2:
      give('answers with data', { found: [1, 2] });
      return;
    case 3:
      world.say(`${name} fails${late}`);
      world.coverage.failure('tool: error');
      world.effects.remove(call);
      call.fail(new Error('the tool broke'));
      return;
    case 4:
      world.say(`${name} tells how far it is${late}`);
      call.context.progress({ message: 'half', fraction: 0.5 });
      return;
    case 5:
      world.say(`${name} emits an event${late}`);
      call.context.emit('acme.seen', { a: 1 }).catch(() => undefined);
      return;
    case 6:
      give('answers at length', LONG_TEXT);
      return;
    default:
      world.say(`${name} answers, and then fails${late}`);
      world.coverage.failure('second answer of a tool');
      world.effects.remove(call);
      call.answer('first');
      call.fail(new Error('second'));
  }
}

function said(text: string): ModelOutcome {
  return { outcome: 'ended', message: { role: 'assistant', content: text === '' ? [] : [{ type: 'text', text }] }, finish_reason: 'stop' };
}

function asking(calls: readonly (readonly [name: string, input_text: string])[], finish_reason: FinishReason = 'tool_calls'): ModelOutcome {
  const content = calls.map(([name, input_text], index): Block => ({ type: 'tool_use', id: `call_${index % 1}`, name, input_text }));
  return { outcome: 'ended', message: { role: 'assistant', content }, finish_reason };
}
