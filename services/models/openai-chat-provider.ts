/** Chat completions, streamed: `{base_url}/chat/completions`. */
import { libraryProvider, type LibraryClient, type ProviderSettings } from './library-call.ts';
import type { ModelProvider, ModelRequest } from './model-provider.ts';
import { OpenAiChatAnswer } from './openai-chat-answer.ts';
import { promptOf } from './openai-chat-prompt.ts';
import type { LoadOpenAiCompatible, ProviderCallOptions } from './provider-library.ts';
import { addressOf, offered } from './request-content.ts';
import { commonOptions, parametersOf } from './request-parameters.ts';

export function openAiChatProvider(options: ProviderSettings & { readonly loadLibrary: LoadOpenAiCompatible }): ModelProvider {
  const { apiKey, loadLibrary } = options;
  const client: LibraryClient = {
    answer: (onDelta) => new OpenAiChatAnswer(onDelta),
    open: async (request, { signal, fetch }) => {
      const baseURL = addressOf(request.model);
      const called = callOptionsOf(request, signal);
      const createOpenAiCompatible = await loadLibrary();
      const library = createOpenAiCompatible({
        name: 'openai',
        baseURL,
        includeUsage: true,
        ...(apiKey === undefined ? {} : { apiKey }),
        ...(takesCompletionTokens(baseURL) ? { transformRequestBody: withCompletionTokens } : {}),
        fetch,
      });
      const { stream } = await library.chatModel(request.model.name).doStream(called);
      return stream;
    },
  };
  return libraryProvider(client, options);
}

function callOptionsOf(request: ModelRequest, abortSignal: AbortSignal): ProviderCallOptions {
  const parameters = parametersOf(request);
  const { reasoning_effort: reasoningEffort } = parameters;
  return {
    prompt: promptOf(request),
    tools: offered(request.tools),
    abortSignal,
    includeRawChunks: true,
    ...commonOptions(parameters),
    ...(reasoningEffort === undefined ? {} : { providerOptions: { openaiCompatible: { reasoningEffort } } }),
  };
}

/** OpenAI's own newer models refuse the name by which every other server knows this bound. */
function takesCompletionTokens(baseUrl: string): boolean {
  return new URL(baseUrl).hostname === 'api.openai.com';
}

function withCompletionTokens({ max_tokens, ...body }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}
