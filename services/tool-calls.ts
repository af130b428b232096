/**
 * A turn's tool calls: recorded, invoked once, ended once.
 *
 *   T1. The tool is invoked after its `tool_call_started` is durable, and a loop hears the result after the record of it
 *       is. Calls of one dispatch start in one commit and run in parallel; their answers stand in the order of the calls.
 *   T2. The first end counts: the tool's answer, its deadline (`timeout`) or the turn's stop (`cancelled`). A late answer
 *       goes nowhere, and the tool is told through its signal.
 *   T3. Where a call goes is what the session's creation recorded for the name. Nothing is dispatched for a name that the
 *       session does not have, nor for arguments that are no JSON.
 */
import { TOOL_OUTPUT_OF } from '../machines/close-turn.ts';
import type { ToolCallStart } from '../machines/commands.ts';
import { OPEN_EFFECTS_MAX } from '../machines/decide.ts';
import type { JsonValue, ToolOutcome } from '../machines/messages.ts';
import { sameValue } from '../machines/value-equality.ts';
import type { ResolvedTool, Sequence } from '../machines/records.ts';
import type { Extensions } from './extensions.ts';
import { heard } from './heard.ts';
import type { Intake } from './intake.ts';
import type { LoopToolAnswer, LoopToolCall } from './loops/agent-loop.ts';
import { parseToolArguments, type ToolArguments } from './tools/tool-arguments.ts';
import type { Tool, ToolRegistry } from './tools/tool.ts';
import type { TurnScope } from './turn-scope.ts';

// A tool says why it failed in a line or a page, not in a dump.
const ERROR_CHARACTERS_MAX = 4_000;

interface Prepared {
  readonly call: LoopToolCall;
  readonly input: JsonValue;
  readonly resolved: ResolvedTool;
}

/** Why no call of a dispatch was started. */
type NotStarted = 'stopped' | 'too_large' | 'effects_full';

interface Result {
  readonly outcome: ToolOutcome;
  readonly output: JsonValue;
}

export class ToolCalls {
  readonly #scope: TurnScope;
  readonly #tools: ToolRegistry;
  readonly #extensions: Extensions;

  constructor(scope: TurnScope, tools: ToolRegistry, extensions: Extensions) {
    this.#scope = scope;
    this.#tools = tools;
    this.#extensions = extensions;
  }

  async dispatch(calls: readonly LoopToolCall[]): Promise<readonly LoopToolAnswer[]> {
    const prepared = calls.map((call) => this.#prepare(call));
    const ready = prepared.filter((one) => 'input' in one);
    const started = await this.#start(ready);
    const answers = new Map<Prepared, Promise<LoopToolAnswer>>(
      ready.map((one, index) => [one, typeof started === 'string' ? Promise.resolve(notStarted(one.call, started)) : this.#run(one, started[index])]),
    );
    return Promise.all(
      prepared.map(async (one) => ('input' in one ? (answers.get(one) ?? notStarted(one.call, 'stopped')) : one)),
    );
  }

  #prepare(call: LoopToolCall): Prepared | LoopToolAnswer {
    const { intake } = this.#scope;
    const resolved = this.#scope.created.tools.find(({ name }) => name === call.tool);
    if (resolved === undefined) return notDispatched(call, `this session has no tool ${JSON.stringify(intake.text(call.tool))}`);
    const given: ToolArguments = call.input === undefined ? parseToolArguments(call.input_text) : { kind: 'parsed', value: call.input };
    if (given.kind === 'invalid') return notDispatched(call, given.reason);
    const plain = intake.data(given.value);
    return plain.ok ? { call, input: plain.value, resolved } : notDispatched(call, `the arguments cannot be used: ${plain.reason}`);
  }

  /** The sequences of the started calls, in their order, or why none was. */
  async #start(prepared: readonly Prepared[]): Promise<readonly Sequence[] | NotStarted> {
    const scope = this.#scope;
    if (prepared.length === 0) return [];
    if (scope.isStopped) return 'stopped';
    const { toolMs } = scope.limits;
    const deadline = toolMs === null ? null : scope.clock.now() + toolMs;
    const receipt = await scope.submit({
      kind: 'start_tool_calls',
      message_sequence: scope.messageSequence,
      calls: prepared.map((one) => startOf(one, deadline, scope.intake)),
    });
    if (receipt.kind === 'refused' && (receipt.code === 'too_large' || receipt.code === 'effects_full')) return receipt.code;
    if (receipt.kind !== 'committed') return 'stopped';
    return receipt.records.filter(({ type }) => type === 'tool_call_started').map(({ sequence }) => sequence);
  }

  async #run(prepared: Prepared, sequence: Sequence | undefined): Promise<LoopToolAnswer> {
    if (sequence === undefined) throw new Error('each call of a commit has its record');
    const result = await this.#invoke(prepared, sequence);
    const recorded = await this.#end(sequence, result);
    return answerOf(prepared.call, sequence, recorded);
  }

  async #invoke({ resolved, input }: Prepared, sequence: Sequence): Promise<Result> {
    const scope = this.#scope;
    const tool = this.#tools.find(scope.created.tenant, resolved.name);
    if (tool === null) return { outcome: 'error', output: `this server has no tool ${resolved.name} any more; nothing was called` };
    // A cancel that was recorded in the same commit came first: nothing is called.
    if (scope.isStopped) return { outcome: 'cancelled', output: TOOL_OUTPUT_OF.cancelled };
    const abort = new AbortController();
    const stopped = scope.whenStopped.then((): Result => ({ outcome: 'cancelled', output: TOOL_OUTPUT_OF.cancelled }));
    const deadline = this.#deadline();
    const answer = scope.track(this.#callTool(tool, input, sequence, abort.signal));
    const result = await Promise.race([answer, stopped, deadline.passed]);
    deadline.cancel();
    abort.abort();
    return result;
  }

  #deadline(): { readonly passed: Promise<Result>; cancel(): void } {
    const { limits, clock } = this.#scope;
    let cancel = (): void => undefined;
    const passed = new Promise<Result>((resolve) => {
      if (limits.toolMs === null) return;
      cancel = clock.after(limits.toolMs, () => {
        resolve({ outcome: 'timeout', output: TOOL_OUTPUT_OF.timeout });
      });
    });
    return { passed, cancel };
  }

  async #callTool(tool: Tool, input: JsonValue, sequence: Sequence, signal: AbortSignal): Promise<Result> {
    const scope = this.#scope;
    try {
      const output = await tool.run(input, {
        signal,
        session_id: scope.sessionId,
        sequence,
        emit: (type, data) => heard(this.#emit({ type, data, sequence, signal })),
        progress: ({ message, fraction }) => {
          if (signal.aborted) return;
          const said = message === undefined ? {} : { message: scope.intake.text(String(message)) };
          const done = fraction === undefined ? {} : { fraction };
          scope.live({ type: 'tool_progress', data: { started_sequence: sequence, ...said, ...done } });
        },
      });
      const plain = scope.intake.data(output ?? null);
      return plain.ok
        ? { outcome: 'ok', output: plain.value }
        : { outcome: 'error', output: `the tool ran, but its result cannot be recorded: ${plain.reason}` };
    } catch (error) {
      return { outcome: 'error', output: scope.intake.text(messageOf(error), ERROR_CHARACTERS_MAX) };
    }
  }

  /** What a call says after its end is neither recorded nor counted against its turn. */
  async #emit(event: { readonly type: string; readonly data: JsonValue; readonly sequence: Sequence; readonly signal: AbortSignal }): Promise<void> {
    if (event.signal.aborted) throw new Error('the call that emits this is over');
    const answer = await this.#extensions.emit({ kind: 'tool', sequence: event.sequence }, event.type, event.data);
    if ('outcome' in answer) throw new Error(answer.message);
  }

  async #end(started_sequence: Sequence, result: Result): Promise<Result> {
    const command = { kind: 'end_tool_call', message_sequence: this.#scope.messageSequence, started_sequence } as const;
    const receipt = await this.#scope.submit({ ...command, ...result });
    if (receipt.kind !== 'refused') return result;
    if (receipt.code !== 'too_large') return { outcome: 'cancelled', output: TOOL_OUTPUT_OF.cancelled };
    return this.#end(started_sequence, { outcome: 'error', output: 'the tool ran, but its result is too large to be recorded' });
  }
}

function startOf({ call, input, resolved }: Prepared, deadline: number | null, intake: Intake): ToolCallStart {
  const { tool, tool_use_id } = call;
  const input_text = intake.text(call.input_text);
  const parsed = parseToolArguments(input_text);
  const isParse = parsed.kind === 'parsed' && sameValue(parsed.value, input);
  const start = { tool, tool_use_id: intake.text(tool_use_id), input_text, deadline, effect: resolved.effect };
  return isParse ? start : { ...start, input };
}

function answerOf({ tool_use_id }: LoopToolCall, sequence: Sequence | null, { outcome, output }: Result): LoopToolAnswer {
  return { tool_use_id, sequence, outcome, output, is_error: outcome !== 'ok' };
}

function notDispatched(call: LoopToolCall, reason: string): LoopToolAnswer {
  return answerOf(call, null, { outcome: 'error', output: `nothing was called: ${reason}` });
}

function notStarted(call: LoopToolCall, why: NotStarted): LoopToolAnswer {
  if (why === 'too_large') return notDispatched(call, 'the calls are too large to be recorded');
  if (why === 'effects_full') return notDispatched(call, `a turn has ${OPEN_EFFECTS_MAX} calls under way at most`);
  return answerOf(call, null, { outcome: 'cancelled', output: 'this call was not started: the turn was being stopped' });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
