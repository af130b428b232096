/**
 * Gives every tool call that a transcript leaves unanswered its outcome from the journal, so that the next request is one
 * that a provider accepts: each call answered exactly once, in the order of the calls, right after them.
 *
 *   O1. A recorded end is told as it was recorded. A call that was asked for and has no start record was not started. A
 *       call without a recorded end, or of which the journal knows nothing (a seed's), is `unknown`, never a failure.
 *   O2. A provider's ids repeat: an answer belongs to a call by its place, and an id only helps to find the place.
 *   O3. What is in order already comes back as it is.
 */
import {
  contentOf,
  textBlocks,
  toolUsesOf,
  type Block,
  type ContentBlock,
  type JsonValue,
  type Message,
  type ToolOutcome,
  type ToolResultBlock,
  type ToolUseBlock,
} from './messages.ts';
import type { PublicEvent } from './projections/public-events.ts';
import type { RecordData, Sequence } from './records.ts';

export interface ToolCallEnd {
  readonly outcome: ToolOutcome;
  readonly output: JsonValue;
  readonly is_error: boolean;
}

/** Whether a transcript has a call without a result, or a result out of its place. */
export function hasOpenToolCalls(transcript: readonly Message[]): boolean {
  const { length } = transcript;
  for (let from = 0; from < length; ) {
    const to = spanEnd(transcript, from);
    if (!isInOrder(transcript, from, to)) return true;
    from = to;
  }
  return false;
}

/** The transcript with the missing results added. `events` are those since the last completed turn, oldest first. */
export function closeOpenToolCalls(transcript: readonly Message[], events: readonly PublicEvent[]): readonly Message[] {
  if (!hasOpenToolCalls(transcript)) return transcript;
  const spans = spansOf(transcript);
  const askings = askingsFor(spans, askingsOf(events));
  return spans.flatMap((span, index) => (span.isInOrder ? messagesOf(span) : closed(span, askings[index] ?? null)));
}

/** The block that tells a model how a call ended. A call that nobody saw through is never told as one that did nothing. */
export function toolResultBlock(call: { readonly id: string }, end: ToolCallEnd): ToolResultBlock {
  const content = contentOf(end.output);
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    content: content.length === 0 ? contentWithoutOutput(end.outcome) : content,
    is_error: end.is_error,
    outcome: end.outcome,
  };
}

/** How a call ended that was asked for and never sent. */
export function notStarted(reason: string): ToolCallEnd {
  return { outcome: 'cancelled', output: `This call was not started: ${reason}.`, is_error: true };
}

const UNKNOWN_END: ToolCallEnd = { outcome: 'unknown', output: null, is_error: true };

function contentWithoutOutput(outcome: ToolOutcome): readonly ContentBlock[] {
  switch (outcome) {
    case 'ok':
    case 'error':
      return [];
    case 'unknown':
      return textBlocks('How this call ended is not known: it may have run, wholly or in part.');
    case 'cancelled':
      return textBlocks('This call was cancelled. What it had done by then is not undone.');
    case 'timeout':
      return textBlocks('This call did not end in time. What it had done by then is not undone.');
  }
}

/** An assistant's message, or none, with the user messages up to the next one. */
interface Span {
  readonly asking: Message | null;
  readonly calls: readonly ToolUseBlock[];
  readonly following: readonly Message[];
  readonly isInOrder: boolean;
}

function spansOf(transcript: readonly Message[]): readonly Span[] {
  const spans: Span[] = [];
  for (let from = 0; from < transcript.length; ) {
    const to = spanEnd(transcript, from);
    const asking = askingAt(transcript, from);
    const following = transcript.slice(asking === null ? from : from + 1, to);
    spans.push({ asking, calls: asking === null ? [] : toolUsesOf(asking), following, isInOrder: isInOrder(transcript, from, to) });
    from = to;
  }
  return spans;
}

/** Where the span that begins at a place is over: at the next message of the assistant. */
function spanEnd(transcript: readonly Message[], from: number): number {
  let end = from + 1;
  while (end < transcript.length && transcript[end]?.role !== 'assistant') end += 1;
  return end;
}

/** The message that a span begins with, where it is one that can ask. */
function askingAt(transcript: readonly Message[], from: number): Message | null {
  const first = transcript[from];
  return first?.role === 'assistant' ? first : null;
}

const NO_CALLS: readonly ToolUseBlock[] = [];
const NO_BLOCKS: readonly Block[] = [];

/**
 * Whether the first blocks that follow are the results of the calls, in their order, and no other block is a result. It is
 * asked of the whole conversation at each turn, so it makes no lists and no iterators.
 */
function isInOrder(transcript: readonly Message[], from: number, to: number): boolean {
  const asking = askingAt(transcript, from);
  const calls = asking === null ? NO_CALLS : callsOf(asking);
  let place = 0;
  for (let at = asking === null ? from : from + 1; at < to; at += 1) {
    const content = transcript[at]?.content ?? NO_BLOCKS;
    for (let index = 0; index < content.length; index += 1) {
      const block = content[index];
      const call = calls[place];
      place += 1;
      const isItsPlace = block?.type === 'tool_result' ? call !== undefined && block.tool_use_id === call.id : call === undefined;
      if (!isItsPlace) return false;
    }
  }
  return place >= calls.length;
}

function callsOf(asking: Message): readonly ToolUseBlock[] {
  for (let index = 0; index < asking.content.length; index += 1) {
    if (asking.content[index]?.type === 'tool_use') return toolUsesOf(asking);
  }
  return NO_CALLS;
}

function messagesOf({ asking, following }: Span): readonly Message[] {
  return asking === null ? following : [asking, ...following];
}

function closed(span: Span, asking: Asking | null): readonly Message[] {
  const given = resultsByPlace(span);
  const results = span.calls.map(
    (call, index) => given[index] ?? toolResultBlock(call, endOf(asking?.calls[index] ?? null)),
  );
  const rest = span.following.flatMap((message): readonly Message[] => {
    const content = message.content.filter((block) => !isResult(block));
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  const answered: readonly Message[] = results.length === 0 ? [] : [{ role: 'user', content: results }];
  return [...(span.asking === null ? [] : [span.asking]), ...answered, ...rest];
}

/** The results that are there, each at the place of its call. One that answers no call has no place. */
function resultsByPlace({ calls, following }: Span): readonly (ToolResultBlock | undefined)[] {
  const results = following.flatMap(({ content }) => content).filter(isResult);
  const given = new Map<number, ToolResultBlock>();
  for (const result of results) {
    const place = calls.findIndex((call, index) => call.id === result.tool_use_id && !given.has(index));
    if (place >= 0) given.set(place, result);
  }
  return calls.map((_call, index) => given.get(index));
}

function isResult(block: Block): block is ToolResultBlock {
  return block.type === 'tool_result';
}

/** What the journal knows of one call. */
interface JournaledCall {
  readonly use: ToolUseBlock;
  readonly startedSequence: Sequence | null;
  readonly end: ToolCallEnd | null;
}

/** A model's answer that asked for tools, with what became of each call. */
interface Asking {
  readonly calls: readonly JournaledCall[];
}

function endOf(call: JournaledCall | null): ToolCallEnd {
  if (call === null) return UNKNOWN_END;
  if (call.startedSequence === null) return notStarted('the turn that asked for it was over before');
  return call.end ?? UNKNOWN_END;
}

function askingsOf(events: readonly PublicEvent[]): readonly Asking[] {
  let askings: readonly Asking[] = [];
  for (const event of events) {
    const record = parseCallEvent(event);
    if (record === null) continue;
    switch (record.type) {
      case 'model_call_ended': {
        const calls = toolUsesOf(record.data.message).map((use): JournaledCall => ({ use, startedSequence: null, end: null }));
        if (calls.length > 0) askings = [...askings, { calls }];
        break;
      }
      case 'tool_call_started': {
        const { data } = record;
        const isThis = ({ use, startedSequence }: JournaledCall): boolean =>
          startedSequence === null &&
          use.name === data.tool &&
          use.id === data.tool_use_id &&
          use.input_text === data.input_text;
        askings = withCall(askings, isThis, { startedSequence: event.sequence });
        break;
      }
      case 'tool_call_ended': {
        const { started_sequence, outcome, output, is_error } = record.data;
        const isThis = ({ startedSequence }: JournaledCall): boolean => startedSequence === started_sequence;
        askings = withCall(askings, isThis, { end: { outcome, output, is_error } });
        break;
      }
    }
  }
  return askings;
}

/** The askings with one call changed: of the latest that has such a call, the first such. */
function withCall(
  askings: readonly Asking[],
  isThis: (call: JournaledCall) => boolean,
  change: Partial<JournaledCall>,
): readonly Asking[] {
  const at = askings.findLastIndex(({ calls }) => calls.some(isThis));
  const asking = askings[at];
  if (asking === undefined) return askings;
  const place = asking.calls.findIndex(isThis);
  const calls = asking.calls.map((call, index) => (index === place ? { ...call, ...change } : call));
  return askings.with(at, { calls });
}

/**
 * Each span's asking. The events begin at some turn and the transcript at the first, so they are laid side by side from
 * the end: an older message that reads the same is not taken for a later one.
 */
function askingsFor(spans: readonly Span[], askings: readonly Asking[]): readonly (Asking | null)[] {
  const found: (Asking | null)[] = spans.map(() => null);
  let left = askings;
  for (let index = spans.length - 1; index >= 0; index -= 1) {
    const calls = spans[index]?.calls ?? [];
    if (calls.length === 0) continue;
    const at = left.findLastIndex((asking) => areSameCalls(asking, calls));
    if (at < 0) continue;
    found[index] = left[at] ?? null;
    left = left.slice(0, at);
  }
  return found;
}

function areSameCalls(asking: Asking, calls: readonly ToolUseBlock[]): boolean {
  return (
    asking.calls.length === calls.length &&
    asking.calls.every(({ use }, index) => {
      const call = calls[index];
      return call?.id === use.id && call.name === use.name && call.input_text === use.input_text;
    })
  );
}

type CallEvent = {
  readonly [K in 'model_call_ended' | 'tool_call_started' | 'tool_call_ended']: {
    readonly type: K;
    readonly data: RecordData[K];
  };
}['model_call_ended' | 'tool_call_started' | 'tool_call_ended'];

/** An event that tells of calls. Its type is Brain's own, which no extension can take, so its data is that record's. */
function parseCallEvent({ type, data }: PublicEvent): CallEvent | null {
  if (type !== 'model_call_ended' && type !== 'tool_call_started' && type !== 'tool_call_ended') return null;
  return { type, data } as CallEvent;
}
