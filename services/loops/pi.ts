/**
 * The loop `pi`: that of `@mariozechner/pi-agent-core`, unchanged. What it decides (when to call the model, when a turn is
 * over) is pi's; every model call, tool call and save goes through Brain's host services.
 *
 *   L1. A prompt and an answer are saved with what pi makes of them (the next call, or the end of its turn), which is where
 *       the save is waited for; the results of an answer's calls all together.
 *   L2. The calls of an answer go in one dispatch, which the first of them that pi executes starts.
 *   L3. What a host service throws is not for pi, which would make an answer or a result of it: it ends the turn.
 */
import type { AssistantMessage, AssistantMessageEventStream, Message as PiMessage, Model } from '@mariozechner/pi-ai';
import type { ToolResultBlock } from '../../machines/messages.ts';
import type { AgentLoop, LoopHost, LoopModelAnswer, TurnInput, TurnResult } from './agent-loop.ts';
import { answeredTranscript } from './answered-transcript.ts';
import { resultsOfCalls } from './asked-calls.ts';
import { isCutOff, requestWith, resultWithoutAnswer } from './model-answer.ts';
import type { LoadRunAgentLoop, RunAgentLoop } from './pi-library.ts';
import { answerToPi, fromPi, placeOfCall, resultToPi, toPi } from './pi-messages.ts';

export function piLoop(load: LoadRunAgentLoop): AgentLoop {
  return { name: 'pi', turn: async (input, host) => new PiTurn(input, host).run(await load()) };
}

type Listener = Parameters<RunAgentLoop>[3];
type PiEvent = Parameters<Listener>[0];
type PiTool = NonNullable<Parameters<RunAgentLoop>[1]['tools']>[number];

/** pi hands it on to whoever calls the model, and Brain knows which one the session has. */
const MODEL: Model<string> = { api: 'brain', provider: 'brain', id: 'of the session' };

class PiTurn {
  readonly #input: TurnInput;
  readonly #host: LoopHost;
  /** The conversation, as far as pi has told of it. */
  #messages: readonly PiMessage[] = [];
  #answer: LoopModelAnswer | null = null;
  /** The results of the calls of the latest answer, once they are being called. */
  #results: Promise<readonly ToolResultBlock[]> | null = null;
  /** The latest save, which is committed with what comes after it. */
  #saved: Promise<unknown> = Promise.resolve();
  #thrown: { readonly error: unknown } | null = null;

  constructor(input: TurnInput, host: LoopHost) {
    this.#input = input;
    this.#host = host;
  }

  async run(runAgentLoop: RunAgentLoop): Promise<TurnResult> {
    const { message, system } = this.#input;
    this.#messages = toPi(await answeredTranscript(this.#input, this.#host));
    await runAgentLoop(
      [...toPi([message])],
      { systemPrompt: system ?? '', messages: [...this.#messages], tools: this.#tools() },
      {
        model: MODEL,
        convertToLlm: (messages) => messages,
        shouldStopAfterTurn: () => this.#answer?.outcome === 'ended' && isCutOff(this.#answer),
      },
      (event) => this.#heard(event),
      this.#host.signal,
      (_model, { messages }) => this.#callModel(messages),
    );
    const answer = this.#answer;
    if (answer === null) throw new Error('pi ended its turn without a call of the model');
    return answer.outcome === 'ended' ? { kind: 'returned', result: { sequence: answer.sequence } } : resultWithoutAnswer(answer);
  }

  async #heard(event: PiEvent): Promise<void> {
    if (this.#thrown !== null) throw this.#thrown.error;
    switch (event.type) {
      case 'message_end':
        this.#messages = [...this.#messages, event.message];
        if (event.message.role !== 'toolResult') this.#save();
        return;
      case 'turn_end':
        if (event.toolResults.length > 0) this.#save();
        return;
      default:
    }
  }

  #save(): void {
    this.#saved = this.#host.setTranscript(fromPi(this.#messages));
  }

  async #callModel(messages: readonly PiMessage[]): Promise<AssistantMessageEventStream> {
    this.#results = null;
    try {
      [this.#answer] = await Promise.all([this.#host.model(requestWith(fromPi(messages), this.#input)), this.#saved]);
      return streamOf(answerToPi(this.#answer));
    } catch (error) {
      this.#thrown = { error };
      return streamOf({ role: 'assistant', content: [], stopReason: 'error' });
    }
  }

  #tools(): PiTool[] {
    return this.#input.tools.map(({ name, description, input_schema }) => ({
      name,
      label: name,
      description,
      parameters: input_schema,
      execute: async (piId: string) => {
        try {
          const result = (await this.#resultsOfCalls())[placeOfCall(piId)];
          if (result === undefined) throw new Error('pi executes a call that the model did not ask for');
          return resultToPi(result);
        } catch (error) {
          this.#thrown = { error };
          throw error;
        }
      },
    }));
  }

  #resultsOfCalls(): Promise<readonly ToolResultBlock[]> {
    this.#results ??= this.#callTools();
    return this.#results;
  }

  async #callTools(): Promise<readonly ToolResultBlock[]> {
    const answer = this.#answer;
    if (answer?.outcome !== 'ended') return [];
    const [results] = await Promise.all([resultsOfCalls(answer, this.#input, this.#host), this.#saved]);
    return results;
  }
}

/** A stream of the one event that has all of the answer. Who wants to read along watches the session. */
function streamOf(message: AssistantMessage): AssistantMessageEventStream {
  return {
    async *[Symbol.asyncIterator]() {
      switch (message.stopReason) {
        case 'error':
        case 'aborted':
          yield { type: 'error', reason: message.stopReason, error: message };
          return;
        case 'stop':
        case 'length':
        case 'toolUse':
          yield { type: 'done', reason: message.stopReason, message };
      }
    },
    result: async () => message,
  };
}
