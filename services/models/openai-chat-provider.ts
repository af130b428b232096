/** Chat completions, streamed: `{base_url}/chat/completions`. */
import type { ModelRequest, OfferedTool } from './model-provider.ts';
import { OpenAiChatAnswer } from './openai-chat-answer.ts';
import { chatMessages } from './openai-chat-prompt.ts';
import { bearerOf, type ProviderClient } from './provider-call.ts';
import { addressOf, schemaOf } from './request-content.ts';
import { jsonOrNothing, objectJson } from './request-json.ts';
import { parametersOf } from './request-parameters.ts';

export const openAiChat: ProviderClient = {
  path: '/chat/completions',
  headers: bearerOf,
  body: bodyOf,
  answer: (onDelta) => new OpenAiChatAnswer(onDelta),
};

function bodyOf(request: ModelRequest): string {
  const { model, tools } = request;
  const { max_output_tokens, temperature, reasoning_effort } = parametersOf(request);
  return objectJson({
    model: JSON.stringify(model.name),
    stream: 'true',
    stream_options: '{"include_usage":true}',
    [boundOf(addressOf(model))]: jsonOrNothing(max_output_tokens),
    temperature: jsonOrNothing(temperature),
    reasoning_effort: jsonOrNothing(reasoning_effort),
    tools: tools.length === 0 ? undefined : JSON.stringify(tools.map(toolOf)),
    messages: chatMessages(request),
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
