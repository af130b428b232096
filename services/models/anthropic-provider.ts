/** Anthropic Messages, streamed: `{base_url}/messages`. */
import { AnthropicAnswer } from './anthropic-answer.ts';
import { outputTokensOf, takesTemperature, thinkingOf, type Thinking } from './anthropic-models.ts';
import { anthropicMessages, anthropicWords, toolNamesIn, type Turn } from './anthropic-prompt.ts';
import type { MessageWords } from './message-words.ts';
import type { ModelRequest, OfferedTool } from './model-provider.ts';
import type { ProviderClient } from './provider-call.ts';
import { schemaOf, UnsupportedContent } from './request-content.ts';
import { jsonOrNothing, objectJson } from './request-json.ts';
import { parametersOf } from './request-parameters.ts';

export function anthropic(): ProviderClient {
  const words = anthropicWords();
  return {
    path: '/messages',
    headers: (apiKey) => ({ 'anthropic-version': '2023-06-01', ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) }),
    body: (request) => bodyOf(request, words),
    answer: (onDelta) => new AnthropicAnswer(onDelta),
  };
}

function bodyOf(request: ModelRequest, words: MessageWords<Turn>): string {
  const { system = '', messages } = request;
  const { name } = request.model;
  const { max_output_tokens: asked, temperature, reasoning_effort } = parametersOf(request);
  if (temperature !== undefined && (temperature < 0 || temperature > 1)) throw new UnsupportedContent('a temperature that is not from 0 to 1');
  const { thinking, output_config } = thinkingFor(name, reasoning_effort);
  return objectJson({
    model: JSON.stringify(name),
    stream: 'true',
    max_tokens: String(outputTokensOf(name, { asked, thinking })),
    // Nor is one taken from a model that thinks.
    temperature: thinking === undefined && takesTemperature(name) ? jsonOrNothing(temperature) : undefined,
    thinking: jsonOrNothing(thinking),
    output_config: jsonOrNothing(output_config),
    system: system.trim() === '' ? undefined : JSON.stringify([{ type: 'text', text: system }]),
    ...toolsJson(request),
    messages: anthropicMessages(messages, words),
  });
}

function thinkingFor(model: string, effort: string | undefined): Partial<Thinking> {
  if (effort === undefined) return {};
  const thinking = thinkingOf(model, effort);
  if (thinking === null) throw new UnsupportedContent(`a reasoning effort of ${effort}`);
  return thinking;
}

/** Calls of tools that are not offered any more: the provider wants to know of them, and the model may not make more. */
function toolsJson({ tools, messages }: ModelRequest): { readonly tools?: string; readonly tool_choice?: string } {
  if (tools.length > 0) return { tools: JSON.stringify(tools.map(toolOf)) };
  const names = toolNamesIn(messages);
  if (names.length === 0) return {};
  const former = names.map((name) => ({ name, description: 'Not available any more.', input_schema: { type: 'object' } }));
  return { tools: JSON.stringify(former), tool_choice: '{"type":"none"}' };
}

function toolOf(tool: OfferedTool): object {
  const { name, description } = tool;
  return { name, description, input_schema: schemaOf(tool) };
}
