/**
 * What a strict provider of Anthropic Messages accepts: no field that it does not know, turns that alternate and begin
 * with the user, no text without a word, and each call answered exactly once, at the beginning of the next turn.
 */
import { z } from 'zod';

const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const id = z.string().regex(/^[A-Za-z0-9_-]+$/);
const text = z.strictObject({ type: z.literal('text'), text: z.string().regex(/\S/) });
const source = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('base64'), media_type: z.string(), data: z.base64() }),
  z.strictObject({ type: z.literal('url'), url: z.url() }),
  z.strictObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
]);
const image = z.strictObject({ type: z.literal('image'), source });
const document = z.strictObject({ type: z.literal('document'), source });

const toolResult = z
  .strictObject({
    type: z.literal('tool_result'),
    tool_use_id: id,
    content: z.array(z.discriminatedUnion('type', [text, image, document])).min(1).optional(),
    is_error: z.boolean().optional(),
  })
  .refine(({ content, is_error: isError }) => content !== undefined || isError !== true, 'content cannot be empty if is_error is true');
const toolUse = z.strictObject({ type: z.literal('tool_use'), id, name, input: z.record(z.string(), z.unknown()) });
const thinking = z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().min(1) });
const redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) });

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: z.array(z.discriminatedUnion('type', [text, image, document, toolResult])).min(1) }),
  z.strictObject({ role: z.literal('assistant'), content: z.array(z.discriminatedUnion('type', [text, thinking, redacted, toolUse])).min(1) }),
]);

const request = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().positive(),
  system: z.array(text).optional(),
  messages: z.array(message).min(1),
  tools: z
    .array(z.strictObject({ name, description: z.string().optional(), input_schema: z.looseObject({ type: z.literal('object') }) }))
    .min(1)
    .optional(),
  tool_choice: z.strictObject({ type: z.literal('none') }).optional(),
  thinking: z.union([z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1024) }), z.strictObject({ type: z.literal('adaptive') })]).optional(),
  output_config: z.strictObject({ effort: z.enum(['low', 'medium', 'high']) }).optional(),
  temperature: z.number().min(0).max(1).optional(),
  stream: z.literal(true),
});

export type AnthropicRequest = z.infer<typeof request>;

/** The request, or what a strict provider says no to. */
export function readAnthropicRequest(body: string): { readonly request: AnthropicRequest } | { readonly refusal: string } {
  const parsed = request.safeParse(JSON.parse(body));
  if (!parsed.success) return { refusal: z.prettifyError(parsed.error) };
  const refusal = disorderOf(parsed.data) ?? (hasHalves(parsed.data) ? 'half a character' : null);
  return refusal === null ? { request: parsed.data } : { refusal };
}

function disorderOf({ messages, tools }: AnthropicRequest): string | null {
  const ids = new Set<string>();
  let unanswered: readonly string[] = [];
  for (const [at, { role, content }] of messages.entries()) {
    if ((role === 'user') !== (at % 2 === 0)) return `message ${at} is not of the other side`;
    if (role === 'user') {
      const answered = content.slice(0, unanswered.length).map((block) => (block.type === 'tool_result' ? block.tool_use_id : block.type));
      if (answered.join() !== unanswered.join()) return `message ${at} does not begin with the results of ${unanswered.join()}`;
      if (content.slice(unanswered.length).some(({ type }) => type === 'tool_result')) return `message ${at} answers no call`;
      unanswered = [];
      continue;
    }
    const last = content.at(-1)?.type;
    if (last === 'thinking' || last === 'redacted_thinking') return `message ${at} ends in thought`;
    unanswered = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    for (const called of unanswered) {
      if (ids.has(called)) return `the id ${called} comes again`;
      ids.add(called);
    }
  }
  if (ids.size > 0 && tools === undefined) return 'there are calls and no tools';
  return unanswered.length === 0 ? null : `no answer to ${unanswered.join()}`;
}

function hasHalves(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(hasHalves);
}
