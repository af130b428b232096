/**
 * What a strict provider of chat completions accepts: no field that it does not know, and each tool call answered
 * exactly once, at once, in the order of the calls. Ids may come again in a conversation, so that only the order tells
 * which result belongs to which call.
 */
import { z } from 'zod';

const toolCall = z.strictObject({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), arguments: z.string() }),
});

const contentPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1) }),
  z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: z.string() }) }),
]);

const text = z.union([z.string(), z.array(contentPart).min(1)]);

const assistantMessage = z
  .strictObject({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.null()]).optional(),
    reasoning_content: z.string().optional(),
    tool_calls: z.array(toolCall).min(1).optional(),
  })
  .refine(({ content, tool_calls }) => typeof content === 'string' || tool_calls !== undefined, 'says nothing and calls nothing');

const chatMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string().min(1) }),
  z.strictObject({ role: z.literal('user'), content: text }),
  assistantMessage,
  z.strictObject({ role: z.literal('tool'), tool_call_id: z.string().min(1), content: text }),
]);

const chatRequest = z.strictObject({
  model: z.string().min(1),
  messages: z.array(chatMessage).min(1),
  stream: z.literal(true),
  stream_options: z.strictObject({ include_usage: z.boolean() }).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({
          name: z.string().min(1),
          description: z.string().optional(),
          parameters: z.looseObject({ type: z.literal('object') }),
          strict: z.boolean().optional(),
        }),
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z.enum(['auto', 'none', 'required']).optional(),
  temperature: z.number().optional(),
  max_tokens: z.int().positive().optional(),
  reasoning_effort: z.string().optional(),
});

export type ChatMessage = z.infer<typeof chatMessage>;
export type ChatRequest = z.infer<typeof chatRequest>;

/** The request, or what a strict provider says no to. */
export function readChatRequest(body: string): { readonly request: ChatRequest } | { readonly refusal: string } {
  const parsed = chatRequest.safeParse(JSON.parse(body));
  if (!parsed.success) return { refusal: z.prettifyError(parsed.error) };
  const refusal = disorderOf(parsed.data.messages) ?? (hasLoneSurrogate(body) ? 'a lone surrogate' : null);
  return refusal === null ? { request: parsed.data } : { refusal };
}

function disorderOf(messages: readonly ChatMessage[]): string | null {
  let unanswered: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (message.tool_call_id !== unanswered[0]) return `message ${index} answers no call, or not the next: ${message.tool_call_id}`;
      unanswered = unanswered.slice(1);
      continue;
    }
    if (unanswered.length > 0) return `message ${index} comes before the answer to ${unanswered.join(', ')}`;
    if (message.role === 'system' && index > 0) return `message ${index} is a system message`;
    if (message.role === 'assistant') unanswered = (message.tool_calls ?? []).map(({ id }) => id);
  }
  return unanswered.length > 0 ? `no answer to ${unanswered.join(', ')}` : null;
}

/** JSON may spell half a character as an escape; no text that it stands in is one. */
function hasLoneSurrogate(body: string): boolean {
  return /\\ud[89a-f]/.test(JSON.stringify(JSON.parse(body)));
}
