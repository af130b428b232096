/**
 * What a session is put through: a list of moves, plain and short, so that a shrunk counterexample reads as a story. A
 * move becomes a command or a record where the session stands: `of` picks among what is there, and -1 is something that
 * is not.
 */
import fc from 'fast-check';
import type { Command, EnvironmentResult } from '../../../machines/commands.ts';
import { RefusedByChart } from '../../../machines/dry-run.ts';
import type { Message } from '../../../machines/messages.ts';
import type { CancelBy, EffectOutcome, EndMode, MessageMode, RecordData, RecordType, Sequence, SessionCreated, TurnFailureCode } from '../../../machines/records.ts';
import type { EffectKind } from '../../../machines/session-context.ts';
import { CREATED, environmentOf, Story } from '../../support/session-story.ts';

/** Which of the things that are there; -1 for one that is not. */
type Pick = number;

export type Move =
  | { readonly do: 'send'; readonly input: string; readonly mode: MessageMode }
  | { readonly do: 'cancel'; readonly by: CancelBy }
  | { readonly do: 'end'; readonly mode: EndMode }
  | { readonly do: 'resume' | 'delete' | 'suspend' }
  | { readonly do: 'recover' | 'leave memory' }
  | { readonly do: 'start loop'; readonly turn: Pick }
  | { readonly do: 'call model'; readonly turn: Pick; readonly messages: readonly Change[] }
  | { readonly do: 'model answers' | 'model fails'; readonly turn: Pick; readonly of: Pick }
  | { readonly do: 'call tools'; readonly turn: Pick; readonly count: number }
  | { readonly do: 'tool answers'; readonly turn: Pick; readonly of: Pick; readonly output: null | string }
  | { readonly do: 'emit'; readonly turn: Pick; readonly by: 'agentloop' | 'tool'; readonly of: Pick }
  | { readonly do: 'set transcript'; readonly turn: Pick; readonly messages: readonly Change[] }
  | { readonly do: 'put'; readonly turn: Pick; readonly key: string; readonly value: null | number }
  | { readonly do: 'remove'; readonly turn: Pick; readonly key: string }
  | { readonly do: 'close turn'; readonly turn: Pick; readonly as: 'returned' | TurnFailureCode }
  | { readonly do: 'withdraw'; readonly of: Pick }
  | { readonly do: 'environment answers'; readonly of: Pick; readonly as: OperationEnd }
  | { readonly do: 'change metadata' | 'answer request' };

/** How an operation of an environment ends. */
export type OperationEnd = 'accepted' | 'result' | EffectOutcome;

/** How a loop changes a conversation: what it keeps of it, and what it adds. */
export type Change =
  | { readonly say: string }
  | { readonly drop: number }
  | { readonly swap: number }
  | { readonly summarize: string }
  | 'the input'
  | 'the answer'
  | 'the results';

const NOWHERE: Sequence = 0;

const pick = fc.integer({ min: -1, max: 2 });
/** Nearly always the running turn; now and then one that is over. */
const turn = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, -1, 1);
const text = fc.constantFrom('', 'a', 'b');

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ say: text }),
  fc.record({ drop: fc.nat(2) }),
  fc.record({ swap: fc.nat(2) }),
  fc.record({ summarize: text }),
  fc.constantFrom<Change>('the input', 'the answer', 'the results'),
);
const changes = fc.array(change, { maxLength: 3 });

const operationEnd = fc.constantFrom<OperationEnd>('accepted', 'accepted', 'result', 'failed', 'unknown', 'cancelled');

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('send' as const), input: text, mode: fc.constantFrom<MessageMode>('sync', 'async', 'queue', 'queue') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), by: fc.constantFrom<CancelBy>('caller', 'deadline', 'close', 'shutdown') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), mode: fc.constantFrom<EndMode>('wait', 'interrupt') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('resume' as const, 'resume' as const, 'delete' as const, 'suspend' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('recover' as const, 'leave memory' as const) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('start loop' as const), turn }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('call model' as const), turn, messages: changes }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('model answers' as const, 'model answers' as const, 'model fails' as const), turn, of: pick }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('call tools' as const), turn, count: fc.nat(2) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('tool answers' as const), turn, of: pick, output: fc.constantFrom(null, 'x', 'y') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('emit' as const), turn, by: fc.constantFrom('agentloop' as const, 'tool' as const), of: pick }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('set transcript' as const), turn, messages: changes }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('put' as const), turn, key: fc.constantFrom('k', '__proto__'), value: fc.constantFrom(null, 1, 2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), turn, key: fc.constantFrom('k', '__proto__') }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('close turn' as const), turn, as: fc.constantFrom('returned' as const, 'returned' as const, 'loop_error' as const, 'model_unknown' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const), of: pick }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('environment answers' as const), of: pick, as: operationEnd }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('change metadata' as const, 'answer request' as const) }) },
);

export const moves: fc.Arbitrary<readonly Move[]> = fc.array(move, { maxLength: 40, size: 'max' });

export interface Settings {
  readonly retain: SessionCreated['retain'];
  readonly after_stop: SessionCreated['after_stop'];
  readonly seed: number;
  /** An environment for each: how its setup ended before anything else was asked of the session, or that it did not. */
  readonly setups: readonly (OperationEnd | 'open')[];
}

const setup = fc.constantFrom<OperationEnd | 'open'>('accepted', 'accepted', 'accepted', 'result', 'result', 'open', 'failed', 'unknown', 'cancelled');

export const settings: fc.Arbitrary<Settings> = fc.record({
  retain: fc.constantFrom(null, 0),
  after_stop: fc.constantFrom('hold' as const, 'idle' as const),
  seed: fc.nat(2),
  setups: fc.array(setup, { maxLength: 2, size: 'max' }),
});

/** Among them what every object has, and what sorts before the others as a number. */
const ENVIRONMENTS = ['constructor', '7'];

/** A created session. */
export function storyOf({ retain, after_stop, seed, setups }: Settings): Story {
  const story = new Story();
  const transcript = Array.from({ length: seed }, (_, index) => say(`seed ${index}`));
  const environments = setups.map((_, index) => environmentOf(ENVIRONMENTS[index] ?? ''));
  story.command({ kind: 'create', created: { ...CREATED, environments, retain, after_stop }, transcript });
  const started = story.state.context.open.map(({ sequence }) => sequence);
  for (const [index, as] of setups.entries()) {
    if (as !== 'open') story.command({ kind: 'end_environment_operation', started_sequence: started[index] ?? NOWHERE, result: resultOf(as) });
  }
  return story;
}

function resultOf(as: OperationEnd): EnvironmentResult {
  switch (as) {
    case 'accepted':
      return { kind: 'done', receipt: { type: 'accepted' } };
    case 'result':
      return { kind: 'done', receipt: { type: 'result', output: null } };
    case 'failed':
    case 'unknown':
    case 'cancelled':
      return { kind: 'failed', outcome: as, code: 'x', message: 'x' };
  }
}

/** What a move came to: `asked` is what a loop wanted the transcript or a request to be. */
export interface Moved {
  readonly kind: 'records' | 'nothing' | 'refused';
  readonly asked?: readonly Message[];
}

export function makeMove(story: Story, next: Move): Moved {
  switch (next.do) {
    case 'recover':
      return { kind: story.recover().length > 0 ? 'records' : 'nothing' };
    case 'leave memory':
      return { kind: story.command({ kind: 'suspend' }, { wasResident: false }).kind };
    case 'change metadata':
      return addRecord(story, 'session_metadata_changed', { metadata: { changed: 'yes' } });
    case 'answer request':
      return addRecord(story, 'request_answered', {});
    default: {
      const command = commandOf(story, next);
      const { kind } = story.command(command);
      return 'messages' in command ? { kind, asked: command.messages } : { kind };
    }
  }
}

type CommandMove = Exclude<
  Move,
  { readonly do: 'recover' | 'leave memory' } | { readonly do: 'change metadata' | 'answer request' }
>;

function commandOf(story: Story, next: CommandMove): Command {
  switch (next.do) {
    case 'send':
      return { kind: 'send', input: next.input, mode: next.mode };
    case 'environment answers':
      return { kind: 'end_environment_operation', started_sequence: openOperation(story, next.of), result: resultOf(next.as) };
    case 'withdraw':
      return { kind: 'withdraw', waiting: picked(story.state.context.queue, next.of) };
    case 'cancel':
      return { kind: 'cancel', by: next.by };
    case 'end':
      return { kind: 'end', mode: next.mode };
    case 'resume':
    case 'delete':
    case 'suspend':
      return { kind: next.do };
    case 'start loop':
      return { kind: 'start_activation', message_sequence: turnOf(story, next.turn), agentloop: 'chat' };
    case 'call model': {
      const messages = changed(story, next.messages);
      return { kind: 'start_model_call', message_sequence: turnOf(story, next.turn), provider: 'demo', model: 'echo', messages, difference: {} };
    }
    case 'model answers':
      return {
        kind: 'end_model_call',
        message_sequence: turnOf(story, next.turn),
        started_sequence: open(story, 'model_call', next.of),
        message: { role: 'assistant', content: [{ type: 'text', text: `answer ${story.state.lastSequence % 3}` }] },
        finish_reason: 'stop',
      };
    case 'model fails':
      return {
        kind: 'fail_model_call',
        message_sequence: turnOf(story, next.turn),
        started_sequence: open(story, 'model_call', next.of),
        outcome: 'failed',
        code: 'x',
        message: 'x',
      };
    case 'call tools': {
      const call = { tool: 'clock', tool_use_id: 'same', input_text: '{}', deadline: null, effect: 'read' } as const;
      const calls = Array.from({ length: next.count }, () => call);
      return { kind: 'start_tool_calls', message_sequence: turnOf(story, next.turn), calls };
    }
    case 'tool answers':
      return {
        kind: 'end_tool_call',
        message_sequence: turnOf(story, next.turn),
        started_sequence: open(story, 'tool_call', next.of),
        outcome: next.output === null ? 'error' : 'ok',
        output: next.output,
      };
    case 'emit': {
      const sequence = open(story, next.by === 'tool' ? 'tool_call' : 'activation', next.of);
      return { kind: 'emit', message_sequence: turnOf(story, next.turn), origin: { kind: next.by, sequence }, name: 'xstate.stop', data: null };
    }
    case 'set transcript':
      return { kind: 'set_transcript', message_sequence: turnOf(story, next.turn), messages: changed(story, next.messages) };
    case 'put':
      return { kind: 'put_kv', message_sequence: turnOf(story, next.turn), key: next.key, value: next.value };
    case 'remove':
      return { kind: 'delete_kv', message_sequence: turnOf(story, next.turn), key: next.key };
    case 'close turn': {
      const ending =
        next.as === 'returned' ? ({ kind: 'returned' } as const) : ({ kind: 'failed', code: next.as, message: 'x' } as const);
      return { kind: 'close_turn', message_sequence: turnOf(story, next.turn), ending, open: 'cancelled' };
    }
  }
}

function addRecord<T extends RecordType>(story: Story, type: T, data: RecordData[T]): Moved {
  try {
    story.record(type, data);
    return { kind: 'records' };
  } catch (error) {
    if (error instanceof RefusedByChart) return { kind: 'refused' };
    throw error;
  }
}

function picked(among: readonly Sequence[], which: Pick): Sequence {
  return which < 0 || among.length === 0 ? NOWHERE : (among[which % among.length] ?? NOWHERE);
}

/** 0 is the running turn, 1 one that was. */
function turnOf(story: Story, which: Pick): Sequence {
  if (which === 0) return story.state.context.turn?.message_sequence ?? NOWHERE;
  const started = story.records.flatMap((record) => (record.type === 'turn_started' ? [record.data.message_sequence] : []));
  return picked(started, which);
}

function open(story: Story, kind: EffectKind, which: Pick): Sequence {
  const among = story.state.context.open.filter((one) => one.kind === kind);
  return picked(among.map(({ sequence }) => sequence), which);
}

function openOperation(story: Story, which: Pick): Sequence {
  const among = story.state.context.open.filter(({ kind }) => kind.startsWith('environment_'));
  return picked(among.map(({ sequence }) => sequence), which);
}

function say(words: string): Message {
  return { role: 'user', content: [{ type: 'text', text: words }] };
}

/** The saved conversation as a loop would change it. */
function changed(story: Story, wanted: readonly Change[]): readonly Message[] {
  return wanted.reduce<readonly Message[]>((messages, one) => applied(story, messages, one), story.state.transcript.messages());
}

function applied(story: Story, messages: readonly Message[], one: Change): readonly Message[] {
  if (one === 'the input') {
    const queued = story.records.findLast((record) => record.type === 'message_queued');
    return typeof queued?.data.input === 'string' ? [...messages, say(queued.data.input)] : messages;
  }
  if (one === 'the answer') {
    const answer = story.records.findLast((record) => record.type === 'model_call_ended');
    return answer === undefined ? messages : [...messages, answer.data.message];
  }
  if (one === 'the results') return [...messages, results(story)];
  if ('say' in one) return [...messages, say(one.say)];
  if ('drop' in one) return messages.filter((_message, index) => index !== one.drop);
  if ('summarize' in one) return [say(one.summarize)];
  const [left, right] = [messages[one.swap], messages[one.swap + 1]];
  return left === undefined || right === undefined ? messages : messages.with(one.swap, right).with(one.swap + 1, left);
}

/** The last results of tools as a message, as a loop writes it. */
function results(story: Story): Message {
  const ended = story.records.flatMap((record) => (record.type === 'tool_call_ended' ? [record.data] : [])).slice(-2);
  return {
    role: 'user',
    content: ended.map(({ output, is_error, outcome }) => ({
      type: 'tool_result',
      tool_use_id: 'same',
      content: typeof output === 'string' ? [{ type: 'text', text: output }] : [],
      is_error,
      outcome,
    })),
  };
}
