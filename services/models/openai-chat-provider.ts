/**
 * Chat completions, streamed, over a provider library that is used at its lowest level, where it neither retries nor runs
 * tools. One call is one request.
 */
import { z } from 'zod';
import type { JsonObject } from '../../machines/messages.ts';
import type { ModelOutcome, ModelProvider, ModelRequest } from './model-provider.ts';
import { StreamedAnswer } from './openai-chat-answer.ts';
import { promptOf, UnsupportedContent } from './openai-chat-prompt.ts';
import type { LoadOpenAiCompatible, ProviderCallOptions, ProviderFetch } from './provider-library.ts';
import { CANCELLED, outcomeOf } from './provider-outcome.ts';

export interface OpenAiChatOptions {
  /** Sent as a bearer token. Without one, no authorization is sent. */
  readonly apiKey: string | undefined;
  readonly fetch: ProviderFetch;
  readonly loadLibrary: LoadOpenAiCompatible;
}

const parametersSchema = z.strictObject({
  max_output_tokens: z.int().positive().optional(),
  temperature: z.number().optional(),
  reasoning_effort: z.string().optional(),
});

export function openAiChatProvider(options: OpenAiChatOptions): ModelProvider {
  return {
    call: async (request, { signal, onDelta }) => {
      if (signal.aborted) return CANCELLED;
      const sending: Sending = { isSent: false };
      // Whatever ends the call ends the connection: a provider must not go on speaking to nobody.
      const connection = new AbortController();
      const hangUp = (): void => connection.abort();
      signal.addEventListener('abort', hangUp, { once: true });
      try {
        return await answerTo(request, { options, sending, signal: connection.signal, answer: new StreamedAnswer(onDelta) });
      } catch (error) {
        return outcomeOf(error, { isCancelled: signal.aborted, isSent: sending.isSent, apiKey: options.apiKey });
      } finally {
        signal.removeEventListener('abort', hangUp);
        hangUp();
      }
    },
  };
}

interface Sending {
  isSent: boolean;
}

interface Call {
  readonly options: OpenAiChatOptions;
  readonly sending: Sending;
  readonly signal: AbortSignal;
  readonly answer: StreamedAnswer;
}

async function answerTo(request: ModelRequest, { options, sending, signal, answer }: Call): Promise<ModelOutcome> {
  const { base_url: baseURL, name } = request.model;
  if (baseURL === undefined) throw new UnsupportedContent('anything: it has no address');
  const called = callOptionsOf(request, signal);
  const createOpenAiCompatible = await options.loadLibrary();
  const library = createOpenAiCompatible({
    name: 'openai',
    baseURL,
    includeUsage: true,
    ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
    ...(takesCompletionTokens(baseURL) ? { transformRequestBody: withCompletionTokens } : {}),
    fetch: async (input, init) => {
      sending.isSent = true;
      return await options.fetch(input, init);
    },
  });
  const { stream } = await library.chatModel(name).doStream(called);
  for await (const part of stream) answer.take(part);
  return answer.outcome();
}

function callOptionsOf(request: ModelRequest, abortSignal: AbortSignal): ProviderCallOptions {
  const parameters = parametersSchema.safeParse(request.parameters ?? {});
  if (!parameters.success) throw new UnsupportedContent('these parameters');
  const { max_output_tokens: maxOutputTokens, temperature, reasoning_effort: reasoningEffort } = parameters.data;
  return {
    prompt: promptOf(request),
    tools: request.tools.map(({ name, description, input_schema }) => ({
      type: 'function' as const,
      name,
      description,
      inputSchema: schemaOf(input_schema),
    })),
    abortSignal,
    includeRawChunks: true,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(reasoningEffort === undefined ? {} : { providerOptions: { openaiCompatible: { reasoningEffort } } }),
  };
}

/** Providers want a schema to say that it is an object's, which every tool's is. */
function schemaOf(schema: JsonObject): object {
  return 'type' in schema ? schema : { type: 'object', properties: {}, ...schema };
}

/** OpenAI's own newer models refuse the name by which every other server knows this bound. */
function takesCompletionTokens(baseUrl: string): boolean {
  return new URL(baseUrl).hostname === 'api.openai.com';
}

function withCompletionTokens({ max_tokens, ...body }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}
