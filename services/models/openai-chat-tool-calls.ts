/**
 * The tool calls of a streamed chat completion, put together from its chunks. A call whose arguments lack a piece is
 * another call, so a piece that cannot be placed makes the whole answer malformed.
 */
import { plainData, plainText } from '../../machines/plain-data.ts';
import type { JsonValue, ToolUseBlock } from '../../machines/messages.ts';
import { parseToolArguments } from '../tools/tool-arguments.ts';
import { MalformedStream } from './stream-errors.ts';
import { StreamedText } from './streamed-text.ts';

/** A piece as it stands in a chunk. */
export interface ToolCallPiece {
  readonly index: number | null;
  readonly id: string | null;
  readonly name: string | null;
  /** Of the arguments. */
  readonly input: string;
  readonly extra_content: unknown;
}

interface Call {
  readonly index: number | null;
  id: string | null;
  name: string | null;
  readonly input: StreamedText;
  extra: JsonValue | undefined;
}

export class StreamedToolCalls {
  readonly #calls: Call[] = [];

  /** Takes the next piece; answers what can be shown of the arguments by now. */
  push(piece: ToolCallPiece): string {
    const { index } = piece;
    const id = orNull(piece.id);
    const name = orNull(piece.name);
    const call = this.#continued(index, id, name) ?? this.#added(index);
    if (call.name !== null && name !== null && call.name !== name) throw new MalformedStream('a tool call changes its name');
    call.id ??= id;
    call.name ??= name;
    if (piece.extra_content !== undefined && piece.extra_content !== null) call.extra = parseExtra(piece.extra_content);
    return call.input.push(piece.input);
  }

  /** The calls, in the order in which they began. */
  blocks(): readonly ToolUseBlock[] {
    return this.#calls.map((call, position): ToolUseBlock => {
      if (call.name === null) throw new MalformedStream('a tool call has no name');
      const input_text = call.input.text;
      const parsed = parseToolArguments(input_text);
      return {
        type: 'tool_use',
        // A provider that gives no ids is answered by place; the protocol wants one all the same.
        id: plainText(call.id ?? `call_${position}`),
        name: plainText(call.name),
        ...(parsed.kind === 'parsed' ? { input: parsed.value } : {}),
        input_text,
        ...(call.extra === undefined ? {} : { provider: { extra_content: call.extra } }),
      };
    });
  }

  /**
   * The call that a piece goes on with; null where it begins one. An index names its call, but some providers give every
   * call the index 0, and others give none: then an id or a name that is not the last call's begins the next.
   */
  #continued(index: number | null, id: string | null, name: string | null): Call | null {
    const call = index === null ? this.#calls.at(-1) : this.#calls.findLast((one) => one.index === index);
    if (call === undefined) return null;
    if (id !== null && call.id !== null && id !== call.id) return name === null ? this.#withId(index, id) : null;
    // Without an index and without an id, a name is all that can begin a call.
    return index === null && id === null && name !== null ? null : call;
  }

  #withId(index: number | null, id: string): Call {
    const call = this.#calls.findLast((one) => one.id === id && one.index === index);
    if (call === undefined) throw new MalformedStream('a piece of a tool call belongs to none');
    return call;
  }

  #added(index: number | null): Call {
    const call: Call = { index, id: null, name: null, input: new StreamedText(), extra: undefined };
    this.#calls.push(call);
    return call;
  }
}

function orNull(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text;
}

function parseExtra(extra: unknown): JsonValue {
  const plain = plainData(extra);
  if (!plain.ok) throw new MalformedStream(`a tool call has a field that cannot be kept: ${plain.reason}`);
  return plain.value;
}
