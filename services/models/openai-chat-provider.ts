/** Chat completions, streamed: `{base_url}/chat/completions`. */
import { keptWords, type MessageWords } from './message-words.ts';
import type { ModelRequest, OfferedTool } from './model-provider.ts';
import { OpenAiChatAnswer } from './openai-chat-answer.ts';
import { chatMessageJson } from './openai-chat-prompt.ts';
import { bearerOf, type ProviderClient } from './provider-call.ts';
import { addressOf, schemaOf } from './request-content.ts';
import { jsonOrNothing, listJson, objectJson } from './request-json.ts';
import { parametersOf } from './request-parameters.ts';

export function openAiChat(): ProviderClient {
  const words = keptWords(chatMessageJson);
  return { path: '/chat/completions', headers: bearerOf, body: (request) => bodyOf(request, words), answer: (onDelta) => new OpenAiChatAnswer(onDelta) };
}

function bodyOf(request: ModelRequest, words: MessageWords<string>): string {
  const { model, system = '', messages, tools } = request;
  const { max_output_tokens, temperature, reasoning_effort } = parametersOf(request);
  const first = system === '' ? [] : [JSON.stringify({ role: 'system', content: system })];
  return objectJson({
    model: JSON.stringify(model.name),
    stream: 'true',
    stream_options: '{"include_usage":true}',
    ...(max_output_tokens === undefined ? {} : { [boundOf(addressOf(model))]: String(max_output_tokens) }),
    temperature: jsonOrNothing(temperature),
    reasoning_effort: jsonOrNothing(reasoning_effort),
    tools: tools.length === 0 ? undefined : JSON.stringify(tools.map(toolOf)),
    messages: listJson([...first, ...words(messages)]),
  });
}

function toolOf(tool: OfferedTool): object {
  const { name, description } = tool;
  return { type: 'function', function: { name, description, parameters: schemaOf(tool) } };
}

/** OpenAI's own newer models refuse the name by which every other server knows this bound. */
function boundOf(baseUrl: string): 'max_completion_tokens' | 'max_tokens' {
  return new URL(baseUrl).hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens';
}
