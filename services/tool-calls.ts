/**
 * A turn's tool calls: recorded, invoked once, ended once.
 *
 *   T1. The tool is invoked after its `tool_call_started` is durable, and a loop hears the result after the record of it
 *       is. Calls of one dispatch start in one commit and run in parallel; their answers stand in the order of the calls.
 *   T2. The first end counts: the tool's answer, its deadline or the turn's stop (`cancelled`). A late answer goes nowhere.
 *       Its executor is told to stop once the end is durable, and the turn waits for that within its cleanup bound.
 *   T3. Where a call goes is what the session's creation recorded for the name. Nothing is dispatched for a name that the
 *       session does not have, nor for arguments that are no JSON or not what the tool's schema says.
 *   T4. Nothing is sent once a stop is recorded, or once the turn's incarnation is gone.
 */
import { TOOL_OUTPUT_OF } from '../machines/close-turn.ts';
import type { ToolCallStart } from '../machines/commands.ts';
import { OPEN_EFFECTS_MAX } from '../machines/decide.ts';
import type { JsonValue } from '../machines/messages.ts';
import type { ResolvedTool, Sequence, SideEffect } from '../machines/records.ts';
import { sameValue } from '../machines/value-equality.ts';
import { lostRecord } from './environments/operation.ts';
import type { Extensions } from './extensions.ts';
import type { Intake } from './intake.ts';
import type { LoopToolAnswer, LoopToolCall } from './loops/agent-loop.ts';
import { CallDeadline } from './tools/call-deadline.ts';
import { CallListener } from './tools/call-listener.ts';
import { parseToolArguments, type ToolArguments } from './tools/tool-arguments.ts';
import type { ToolExecutor, ToolInvocation } from './tools/tool-executor.ts';
import type { ToolExecutors } from './tools/tool-executors.ts';
import { inputProblem } from './tools/tool-inputs.ts';
import { resultOfAnswer, resultWithoutAnswer, type ToolResult } from './tools/tool-result.ts';
import type { TurnScope } from './turn-scope.ts';

interface Prepared {
  readonly call: LoopToolCall;
  readonly input: JsonValue;
  readonly resolved: ResolvedTool;
  readonly executor: ToolExecutor;
}

/** Why no call of a dispatch was started. */
type NotStarted = 'stopped' | 'too_large' | 'effects_full';

/** How a call ended: by its answer, or because Brain waited no longer. */
type End = { readonly result: ToolResult } | { readonly givenUp: 'cancelled' | 'timeout' | 'unknown' };

/** `at`: where it stands; null where the turn was closed before. */
interface Recorded {
  readonly result: ToolResult;
  readonly at: Sequence | null;
}

export class ToolCalls {
  readonly #scope: TurnScope;
  readonly #executors: ToolExecutors;
  readonly #extensions: Extensions;

  constructor(scope: TurnScope, executors: ToolExecutors, extensions: Extensions) {
    this.#scope = scope;
    this.#executors = executors;
    this.#extensions = extensions;
  }

  async dispatch(calls: readonly LoopToolCall[]): Promise<readonly LoopToolAnswer[]> {
    const prepared = await Promise.all(calls.map((call) => this.#prepare(call)));
    const ready = prepared.filter((one) => 'input' in one);
    const deadline = new CallDeadline(this.#scope.clock, this.#scope.limits.toolMs);
    const started = await this.#start(ready, deadline);
    const answers = new Map<Prepared, Promise<LoopToolAnswer>>(
      ready.map((one, index) => [
        one,
        typeof started === 'string' ? Promise.resolve(notStarted(one.call, started)) : this.#run(one, started[index], deadline),
      ]),
    );
    return Promise.all(
      prepared.map(async (one) => ('input' in one ? (answers.get(one) ?? notStarted(one.call, 'stopped')) : one)),
    );
  }

  async #prepare(call: LoopToolCall): Promise<Prepared | LoopToolAnswer> {
    const { intake, created } = this.#scope;
    const resolved = created.tools.find(({ name }) => name === call.tool);
    if (resolved === undefined) return notDispatched(call, `this session has no tool ${JSON.stringify(intake.text(call.tool))}`);
    const given: ToolArguments = call.input === undefined ? parseToolArguments(call.input_text) : { kind: 'parsed', value: call.input };
    if (given.kind === 'invalid') return notDispatched(call, given.reason);
    const plain = intake.data(given.value);
    if (!plain.ok) return notDispatched(call, `the arguments cannot be used: ${plain.reason}`);
    const problem = inputProblem(resolved.input_schema, plain.value);
    if (problem !== null) return notDispatched(call, intake.text(`the arguments are refused: ${problem}`));
    const executor = await this.#executors.find(resolved);
    return typeof executor === 'string' ? notDispatched(call, executor) : { call, input: plain.value, resolved, executor };
  }

  /** The sequences of the started calls, in their order, or why none was. */
  async #start(prepared: readonly Prepared[], deadline: CallDeadline): Promise<readonly Sequence[] | NotStarted> {
    const scope = this.#scope;
    if (prepared.length === 0) return [];
    if (scope.isStopped) return 'stopped';
    const receipt = await scope.submit({
      kind: 'start_tool_calls',
      message_sequence: scope.messageSequence,
      calls: prepared.map((one) => startOf(one, deadline, scope.intake)),
    });
    if (receipt.kind === 'refused' && (receipt.code === 'too_large' || receipt.code === 'effects_full')) return receipt.code;
    if (receipt.kind !== 'committed') return 'stopped';
    return receipt.records.filter(({ type }) => type === 'tool_call_started').map(({ sequence }) => sequence);
  }

  async #run({ call, input, resolved, executor }: Prepared, sequence: Sequence | undefined, deadline: CallDeadline): Promise<LoopToolAnswer> {
    if (sequence === undefined) throw new Error('each call of a commit has its record');
    const { effect } = resolved;
    const deadlineMs = deadline.leftMs();
    // A cancel that was recorded in the same commit came first; and what took its whole time to record has none left.
    const early = this.#scope.isStopped ? 'cancelled' : deadlineMs === 0 ? 'timeout' : null;
    if (early !== null) return answerOf(call, sequence, (await this.#record(sequence, resultWithoutAnswer(early, effect, true))).result);
    const listener = new CallListener(this.#scope, this.#extensions, sequence);
    const invocation = executor.invoke({ input, sequence, deadlineMs, listener });
    const end = await this.#endOf(invocation, effect, deadline);
    listener.over();
    // Where nothing of it arrived nothing is to arrive while the end is being recorded, either.
    const isUntouched = 'givenUp' in end && !invocation.mayHaveArrived();
    if (isUntouched) this.#close(invocation, null);
    let cancelAs: Sequence | null = null;
    try {
      const { at, result } = await this.#record(sequence, 'givenUp' in end ? resultWithoutAnswer(end.givenUp, effect, isUntouched) : end.result);
      if ('givenUp' in end) cancelAs = at;
      else if (at !== null) invocation.recorded();
      return answerOf(call, sequence, result);
    } catch (error) {
      invocation.recorded(lostRecord(error));
      throw error;
    } finally {
      if (!isUntouched) this.#close(invocation, cancelAs);
    }
  }

  /** The loop goes on meanwhile, and the turn waits for it. */
  #close(invocation: ToolInvocation, cancelAs: Sequence | null): void {
    // It never rejects.
    void this.#scope.track(invocation.close(cancelAs));
  }

  async #endOf(invocation: ToolInvocation, effect: SideEffect, deadline: CallDeadline): Promise<End> {
    const { intake, whenStopped } = this.#scope;
    const timer = deadline.wait();
    const end = await Promise.race([
      invocation.answer.then((answer): End => ({ result: resultOfAnswer(answer, effect, intake) })),
      whenStopped.then((): End => ({ givenUp: 'cancelled' })),
      timer.passed.then((): End => ({ givenUp: invocation.atDeadline() })),
    ]);
    timer.cancel();
    return end;
  }

  async #record(started_sequence: Sequence, result: ToolResult): Promise<Recorded> {
    const command = { kind: 'end_tool_call', message_sequence: this.#scope.messageSequence, started_sequence } as const;
    const receipt = await this.#scope.submit({ ...command, ...result });
    if (receipt.kind === 'committed') return { result, at: receipt.records[0]?.sequence ?? null };
    if (receipt.kind !== 'refused') return { result, at: null };
    // The turn was closed without this call's end, which says that it was cancelled.
    if (receipt.code !== 'too_large') return { result: { outcome: 'cancelled', output: TOOL_OUTPUT_OF.cancelled }, at: null };
    return this.#record(started_sequence, { outcome: 'error', output: 'the tool ran, but its result is too large to be recorded' });
  }
}

function startOf({ call, input, resolved }: Prepared, deadline: CallDeadline, intake: Intake): ToolCallStart {
  const { tool, tool_use_id } = call;
  const input_text = intake.text(call.input_text);
  const parsed = parseToolArguments(input_text);
  const isParse = parsed.kind === 'parsed' && sameValue(parsed.value, input);
  const start = { tool, tool_use_id: intake.text(tool_use_id), input_text, deadline: deadline.at, effect: resolved.effect };
  return isParse ? start : { ...start, input };
}

function answerOf({ tool_use_id }: LoopToolCall, sequence: Sequence | null, { outcome, output }: ToolResult): LoopToolAnswer {
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
