/**
 * A session in memory, as far as a loop sees one: a journal of public events, a saved transcript, a scripted model and
 * scripted tools. It can die at any step of a turn; what was open then is closed as unknown, as a recovery does.
 */
import { userMessage, type Message } from '../../../../machines/messages.ts';
import type { ToolCallEnd } from '../../../../machines/open-tool-calls.ts';
import type { PublicEvent } from '../../../../machines/projections/public-events.ts';
import type { FinishReason, Sequence } from '../../../../machines/records.ts';
import type {
  AgentLoop,
  LoopHost,
  LoopModelAnswer,
  LoopModelRequest,
  LoopToolAnswer,
  LoopToolCall,
  TurnInput,
  TurnResult,
} from '../../../../services/loops/agent-loop.ts';
import { heard } from '../../../../services/heard.ts';

export type ScriptedAnswer =
  | { readonly content: Message['content']; readonly finish_reason: FinishReason }
  | Exclude<LoopModelAnswer, { readonly outcome: 'ended' }>;

export interface Script {
  /** The answer to the model call of this number, counted from 0 over the whole session. */
  readonly model: (index: number, request: LoopModelRequest) => ScriptedAnswer;
  /** How a tool call ends; `never`: the process dies while it runs. */
  readonly tool: (call: LoopToolCall, index: number) => ToolCallEnd | 'never';
}

export const UNKNOWN_OUTPUT = 'closed by recovery';

class Death extends Error {}

export class FakeSession {
  transcript: readonly Message[];
  readonly events: PublicEvent[] = [];
  readonly requests: LoopModelRequest[] = [];
  readonly dispatched: LoopToolCall[] = [];
  readonly #script: Script;
  readonly #tools: readonly string[];
  #checkpoint: Sequence = 0;
  #stepsLeft = Infinity;

  constructor(script: Script, { tools, seed = [] }: { readonly tools: readonly string[]; readonly seed?: readonly Message[] }) {
    this.#script = script;
    this.#tools = tools;
    this.transcript = seed;
  }

  /** Runs a turn. `stepsUntilDeath`: before which of its durable steps the process dies, if it has so many. */
  async turn(
    loop: AgentLoop,
    text: string,
    { stepsUntilDeath = Infinity, more = {} }: { readonly stepsUntilDeath?: number; readonly more?: Partial<TurnInput> } = {},
  ): Promise<TurnResult | 'died'> {
    this.#stepsLeft = stepsUntilDeath;
    const message_sequence = this.#record('message_queued', { input: text, mode: 'sync' });
    const input: TurnInput = {
      session_id: '0'.repeat(32),
      message_sequence,
      message: userMessage(text),
      transcript: this.transcript,
      checkpoint_sequence: this.#checkpoint,
      configuration: {},
      tools: this.#tools.map((name) => ({ name, description: '', input_schema: { type: 'object' }, effect: 'once' })),
      ...more,
    };
    try {
      const result = await loop.turn(input, this.#host());
      // A loop need not wait for what it saved last: the end of its turn is committed behind it, or not at all.
      if (this.#stepsLeft < 0) throw new Death();
      if (result.kind === 'returned') this.#checkpoint = this.#record('turn_ended', { message_sequence, next: null, end: false });
      else this.#record('turn_failed', { message_sequence, code: result.code, message: result.message, end: false });
      return result;
    } catch (error) {
      if (!(error instanceof Death)) throw error;
      this.#recover();
      return 'died';
    }
  }

  #host(): LoopHost {
    return {
      signal: new AbortController().signal,
      // Pages of two, so that a loop that reads one page only is noticed.
      events: async (after) => {
        const left = this.events.filter(({ sequence }) => sequence > after);
        return { events: left.slice(0, 2), next: left.length > 2 ? (left[1]?.sequence ?? null) : null };
      },
      model: async (request) => this.#model(request),
      dispatch: async (calls) => this.#dispatch(calls),
      emit: async () => ({ sequence: this.#record('demo.event', {}) }),
      setTranscript: (messages) => heard(this.#save(messages)),
      kv: { read: async () => ({ found: false }), put: async () => undefined, delete: async () => undefined },
      telemetry: () => undefined,
    };
  }

  async #save(messages: readonly Message[]): Promise<readonly Message[]> {
    this.#step();
    this.transcript = messages;
    this.#record('transcript_replaced', {});
    return messages;
  }

  async #model(request: LoopModelRequest): Promise<LoopModelAnswer> {
    this.#step();
    const index = this.requests.push(request) - 1;
    const started_sequence = this.#record('model_call_started', { message_count: request.messages.length });
    const answer = this.#script.model(index, request);
    if ('outcome' in answer) return answer;
    this.#step();
    const message: Message = { role: 'assistant', content: answer.content };
    const sequence = this.#record('model_call_ended', { started_sequence, message, finish_reason: answer.finish_reason });
    return { outcome: 'ended', sequence, message, finish_reason: answer.finish_reason };
  }

  async #dispatch(calls: readonly LoopToolCall[]): Promise<readonly LoopToolAnswer[]> {
    this.#step();
    const started = calls.map((call) => this.#record('tool_call_started', { ...call, deadline: null, effect: 'once' }));
    const ends = calls.map((call) => this.#script.tool(call, this.dispatched.push(call) - 1));
    const answers: LoopToolAnswer[] = [];
    // The last begun ends first: the order of the ends is not that of the calls.
    for (const [index, end] of [...ends.entries()].reverse()) {
      const sequence = started[index] ?? 0;
      if (end === 'never') continue;
      this.#step();
      this.#record('tool_call_ended', { started_sequence: sequence, ...end });
      answers.unshift({ tool_use_id: calls[index]?.tool_use_id ?? '', sequence, ...end });
    }
    if (ends.includes('never')) throw new Death();
    return answers;
  }

  #recover(): void {
    const ended = new Set(this.events.map(({ type, data }) => (type === 'tool_call_ended' ? startedIn(data) : 0)));
    for (const { type, sequence } of [...this.events]) {
      if (type !== 'tool_call_started' || ended.has(sequence)) continue;
      this.#record('tool_call_ended', { started_sequence: sequence, outcome: 'unknown', output: UNKNOWN_OUTPUT, is_error: true });
    }
    this.#record('turn_failed', { code: 'interrupted_by_restart', message: '', end: false });
  }

  #step(): void {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0) throw new Death();
  }

  #record(type: string, data: object): Sequence {
    const sequence = (this.events.at(-1)?.sequence ?? 0) + 1;
    this.events.push({ sequence, recorded_at: 0, type, data });
    return sequence;
  }
}

function startedIn(data: unknown): number {
  return typeof data === 'object' && data !== null && 'started_sequence' in data ? Number(data.started_sequence) : 0;
}
