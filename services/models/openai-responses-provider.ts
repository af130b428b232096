/** OpenAI Responses, streamed: `{base_url}/responses`. Nothing of a conversation is kept there. */
import type { MessageWords } from './message-words.ts';
import type { ModelRequest, OfferedTool } from './model-provider.ts';
import { OpenAiResponsesAnswer } from './openai-responses-answer.ts';
import { reasoningOf } from './openai-responses-models.ts';
import { responsesInput, responsesWords } from './openai-responses-prompt.ts';
import { bearerOf, type ProviderClient } from './provider-call.ts';
import { schemaOf } from './request-content.ts';
import { jsonOrNothing, objectJson } from './request-json.ts';
import { parametersOf } from './request-parameters.ts';

export function openAiResponses(): ProviderClient {
  const words = responsesWords();
  return { path: '/responses', headers: bearerOf, body: (request) => bodyOf(request, words), answer: (onDelta) => new OpenAiResponsesAnswer(onDelta) };
}

function bodyOf(request: ModelRequest, words: MessageWords<string>): string {
  const { system = '', tools, messages } = request;
  const { name } = request.model;
  const { max_output_tokens, temperature, reasoning_effort } = parametersOf(request);
  const reasoning = reasoningOf(name, reasoning_effort);
  return objectJson({
    model: JSON.stringify(name),
    stream: 'true',
    store: 'false',
    // Without it nobody could give the reasoning back.
    include: reasoning.isOn ? '["reasoning.encrypted_content"]' : undefined,
    reasoning: reasoning.effort === undefined ? undefined : JSON.stringify({ effort: reasoning.effort }),
    max_output_tokens: jsonOrNothing(max_output_tokens),
    temperature: reasoning.takesTemperature ? jsonOrNothing(temperature) : undefined,
    instructions: system === '' ? undefined : JSON.stringify(system),
    tools: tools.length === 0 ? undefined : JSON.stringify(tools.map(toolOf)),
    input: responsesInput(messages, words),
  });
}

/** Unless it is told otherwise, the provider makes every argument of a tool a required one. */
function toolOf(tool: OfferedTool): object {
  const { name, description } = tool;
  return { type: 'function', name, description, parameters: schemaOf(tool), strict: false };
}
