/** OpenAI Responses, streamed: `{base_url}/responses`. Nothing of a conversation is kept there. */
import { libraryProvider, type LibraryClient, type ProviderSettings } from './library-call.ts';
import type { ModelProvider, ModelRequest } from './model-provider.ts';
import { OpenAiResponsesAnswer } from './openai-responses-answer.ts';
import { responsesInput } from './openai-responses-prompt.ts';
import type { LoadOpenAi, ProviderCallOptions } from './provider-library.ts';
import { changingBody, MADE_UP_KEY, noConversation } from './request-body.ts';
import { addressOf, offered } from './request-content.ts';
import { commonOptions, parametersOf } from './request-parameters.ts';

export function openAiResponsesProvider(options: ProviderSettings & { readonly loadLibrary: LoadOpenAi }): ModelProvider {
  const { apiKey, loadLibrary } = options;
  const client: LibraryClient = {
    answer: (onDelta) => new OpenAiResponsesAnswer(onDelta),
    open: async (request, { signal, fetch }) => {
      const baseURL = addressOf(request.model);
      const called = callOptionsOf(request, signal);
      const fields = { input: responsesInput(request.messages) };
      const createOpenAi = await loadLibrary();
      const library = createOpenAi({
        baseURL,
        apiKey: apiKey ?? MADE_UP_KEY,
        fetch: changingBody(fetch, { fields, withoutHeader: apiKey === undefined ? 'authorization' : null }),
      });
      const { stream } = await library.responses(request.model.name).doStream(called);
      return stream;
    },
  };
  return libraryProvider(client, options);
}

function callOptionsOf(request: ModelRequest, abortSignal: AbortSignal): ProviderCallOptions {
  const { system = '' } = request;
  const parameters = parametersOf(request);
  const { reasoning_effort: reasoningEffort } = parameters;
  return {
    prompt: noConversation(),
    // Unless it is told otherwise, the provider makes every argument of a tool a required one.
    tools: offered(request.tools).map((tool) => ({ ...tool, strict: false })),
    abortSignal,
    includeRawChunks: true,
    ...commonOptions(parameters),
    providerOptions: {
      openai: {
        // With it, the library asks for the reasoning of models that it knows to reason, encrypted.
        store: false,
        ...(system === '' ? {} : { instructions: system }),
        // Who asks for an effort knows that the model reasons.
        ...(reasoningEffort === undefined ? {} : { reasoningEffort, forceReasoning: true }),
      },
    },
  };
}
