/** Anthropic Messages, streamed: `{base_url}/messages`. */
import { AnthropicAnswer } from './anthropic-answer.ts';
import { anthropicMessages, toolNamesIn } from './anthropic-prompt.ts';
import { libraryProvider, type LibraryClient, type ProviderSettings } from './library-call.ts';
import type { ModelProvider, ModelRequest } from './model-provider.ts';
import type { LoadAnthropic, ProviderCallOptions } from './provider-library.ts';
import { changingBody, MADE_UP_KEY, noConversation } from './request-body.ts';
import { addressOf, offered, UnsupportedContent } from './request-content.ts';
import { commonOptions, parametersOf, type RequestParameters } from './request-parameters.ts';

export function anthropicProvider(options: ProviderSettings & { readonly loadLibrary: LoadAnthropic }): ModelProvider {
  const { apiKey, loadLibrary } = options;
  const client: LibraryClient = {
    answer: (onDelta) => new AnthropicAnswer(onDelta),
    open: async (request, { signal, fetch }) => {
      const baseURL = addressOf(request.model);
      const called = callOptionsOf(request, signal);
      const fields = { messages: anthropicMessages(request.messages), ...toolsOf(request) };
      const createAnthropic = await loadLibrary();
      const library = createAnthropic({
        baseURL,
        apiKey: apiKey ?? MADE_UP_KEY,
        fetch: changingBody(fetch, { fields, withoutHeader: apiKey === undefined ? 'x-api-key' : null }),
      });
      const { stream } = await library.messages(request.model.name).doStream(called);
      return stream;
    },
  };
  return libraryProvider(client, options);
}

function callOptionsOf(request: ModelRequest, abortSignal: AbortSignal): ProviderCallOptions {
  const { system = '' } = request;
  const parameters = parametersOf(request);
  // The library would send another one than was asked for.
  if ((parameters.temperature ?? 0) > 1) throw new UnsupportedContent('a temperature above 1');
  return {
    prompt: [...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]), ...noConversation()],
    tools: offered(request.tools),
    abortSignal,
    includeRawChunks: true,
    ...commonOptions(parameters),
    // Arguments that are streamed eagerly are not looked through for being JSON, and other servers do not know the field.
    providerOptions: { anthropic: { toolStreaming: false, ...thinkingOf(request.model.name, parameters) } },
  };
}

/** Calls of tools that are not offered any more: the provider wants to know of them, and the model may not make more. */
function toolsOf({ tools, messages }: ModelRequest): Readonly<Record<string, string>> {
  const names = tools.length > 0 ? [] : toolNamesIn(messages);
  if (names.length === 0) return {};
  const former = names.map((name) => ({ name, description: 'Not available any more.', input_schema: { type: 'object' } }));
  return { tools: JSON.stringify(former), tool_choice: JSON.stringify({ type: 'none' }) };
}

/** Models from before they thought as much as a question needs are told in tokens. Those come on top of the answer's. */
const TOKENS_BY_EFFORT: Readonly<Record<string, number>> = { minimal: 1024, low: 2048, medium: 8192, high: 16_384 };
const FIXED_THINKING = /claude-(?:\d|instant|v?2)|(?:opus|sonnet|haiku)-4(?:-[0-5](?!\d)|-\d{8}|[@:]|$)/;

function thinkingOf(model: string, { reasoning_effort: effort }: RequestParameters) {
  if (effort === undefined) return {};
  const budgetTokens = TOKENS_BY_EFFORT[effort];
  if (budgetTokens === undefined) throw new UnsupportedContent(`a reasoning effort of ${effort}`);
  // Models of other makers know the older way, if any.
  if (FIXED_THINKING.test(model) || !model.includes('claude-')) return { thinking: { type: 'enabled', budgetTokens } };
  return { thinking: { type: 'adaptive' }, effort: effort === 'minimal' ? 'low' : effort };
}
