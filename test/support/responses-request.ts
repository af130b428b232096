/**
 * What a strict provider of OpenAI Responses accepts that keeps nothing: no field that it does not know, no reference to
 * what it does not have, each call answered exactly once and at once, and no reasoning that leads to nothing.
 */
import { z } from 'zod';

const id = z.string().min(1).max(64);
const inputPart = z.union([
  z.strictObject({ type: z.literal('input_text'), text: z.string().min(1) }),
  z.strictObject({ type: z.literal('input_image'), image_url: z.string() }),
  z.strictObject({ type: z.literal('input_file'), filename: z.string(), file_data: z.string() }),
  z.strictObject({ type: z.literal('input_file'), file_url: z.url() }),
]);
const outputPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('output_text'), text: z.string().min(1) }),
  z.strictObject({ type: z.literal('refusal'), refusal: z.string().min(1) }),
]);

const userMessage = z.strictObject({ role: z.literal('user'), content: z.array(inputPart).min(1) });
const item = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('message'),
    role: z.literal('assistant'),
    id: id.optional(),
    phase: z.enum(['commentary', 'final_answer']).optional(),
    content: z.array(outputPart).min(1),
  }),
  z.looseObject({ type: z.literal('reasoning'), id, summary: z.array(z.looseObject({ type: z.literal('summary_text'), text: z.string() })), encrypted_content: z.string().min(1) }),
  z.strictObject({ type: z.literal('function_call'), call_id: id, name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), arguments: z.string() }),
  z.strictObject({ type: z.literal('function_call_output'), call_id: id, output: z.union([z.string(), z.array(inputPart).min(1)]) }),
]);

const request = z.strictObject({
  model: z.string().min(1),
  input: z.array(z.union([userMessage, item])).min(1),
  instructions: z.string().min(1).optional(),
  store: z.literal(false),
  include: z.tuple([z.literal('reasoning.encrypted_content')]).optional(),
  reasoning: z.strictObject({ effort: z.enum(['minimal', 'low', 'medium', 'high']) }).optional(),
  max_output_tokens: z.int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        name: z.string(),
        description: z.string().optional(),
        parameters: z.looseObject({ type: z.literal('object') }),
        strict: z.literal(false),
      }),
    )
    .min(1)
    .optional(),
  stream: z.literal(true),
});

export type ResponsesRequest = z.infer<typeof request>;

/** The request, or what a strict provider says no to. */
export function readResponsesRequest(body: string): { readonly request: ResponsesRequest } | { readonly refusal: string } {
  const parsed = request.safeParse(JSON.parse(body));
  if (!parsed.success) return { refusal: z.prettifyError(parsed.error) };
  const refusal = disorderOf(parsed.data) ?? (hasHalves(parsed.data) ? 'half a character' : null);
  return refusal === null ? { request: parsed.data } : { refusal };
}

function disorderOf({ input }: ResponsesRequest): string | null {
  const ids = new Set<string>();
  let unanswered: readonly string[] = [];
  for (const [at, one] of input.entries()) {
    const type = 'type' in one ? one.type : one.role;
    if ('type' in one && one.type === 'function_call_output') {
      if (one.call_id !== unanswered[0]) return `item ${at} answers no call, or not the next`;
      unanswered = unanswered.slice(1);
    } else if ('type' in one && one.type === 'function_call') {
      if (ids.has(one.call_id)) return `the id ${one.call_id} comes again`;
      ids.add(one.call_id);
      unanswered = [...unanswered, one.call_id];
    } else if (type === 'user' && unanswered.length > 0) {
      return `item ${at} comes before the answer to ${unanswered.join()}`;
    }
    const before = input[at - 1];
    if (type === 'user' && before !== undefined && 'type' in before && before.type === 'reasoning') return `item ${at} follows reasoning`;
  }
  return unanswered.length === 0 ? null : `no answer to ${unanswered.join()}`;
}

function hasHalves(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(hasHalves);
}
