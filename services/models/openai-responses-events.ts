/**
 * The events of OpenAI Responses that make up an answer, as far as Brain reads them. Events of another type are about how
 * the answer comes to be.
 */
import { z } from 'zod';
import { count } from './provider-usage.ts';
import { MalformedStream } from './stream-errors.ts';
import { parseEvent } from './stream-events.ts';

const texts = z.array(z.object({ text: z.string() })).nullish();
const messageItem = z.object({
  type: z.literal('message'),
  id: z.string().nullish(),
  phase: z.string().nullish(),
  content: z
    .array(
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('output_text'), text: z.string() }),
        z.object({ type: z.literal('refusal'), refusal: z.string() }),
      ]),
    )
    .nullish(),
});
const reasoningItem = z.object({ type: z.literal('reasoning'), encrypted_content: z.string().nullish(), summary: texts, content: texts });
const callItem = z.object({ type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() });
const item = z.discriminatedUnion('type', [messageItem, reasoningItem, callItem]);

const usageSchema = z
  .object({
    input_tokens: count,
    input_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }).nullish().catch(undefined),
    output_tokens: count,
    output_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(undefined),
  })
  .nullish()
  .catch(undefined);

const PIECE_TYPES = [
  'response.output_text.delta',
  'response.refusal.delta',
  'response.reasoning_summary_text.delta',
  'response.reasoning_text.delta',
  'response.function_call_arguments.delta',
] as const;

const index = z.int().nonnegative();
const event = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('response.output_item.added'),
    output_index: index,
    item: z.object({ type: z.enum(['message', 'reasoning', 'function_call']) }),
  }),
  z.object({
    type: z.enum(PIECE_TYPES),
    output_index: index,
    content_index: index.nullish(),
    summary_index: index.nullish(),
    delta: z.string(),
  }),
  z.object({ type: z.literal('response.output_item.done'), output_index: index, item: z.unknown() }),
  z.object({
    type: z.enum(['response.completed', 'response.incomplete']),
    response: z.object({
      output: z.array(z.unknown()).nullish(),
      incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
      usage: usageSchema,
    }),
  }),
  z.object({ type: z.literal('response.failed'), response: z.object({ error: z.unknown().optional() }) }),
  z.object({ type: z.literal('error'), error: z.unknown().optional(), message: z.unknown().optional() }),
]);


const END_TYPES = ['response.completed', 'response.incomplete', 'response.failed', 'error'] as const;
const TYPES = ['response.output_item.added', 'response.output_item.done', ...PIECE_TYPES, ...END_TYPES] as const;

export type ResponsesEvent = z.infer<typeof event>;
export type ResponsesPiece = Extract<ResponsesEvent, { readonly delta: string }>;
export type ResponsesEnd = Extract<ResponsesEvent, { readonly type: 'response.completed' | 'response.incomplete' }>;
export type ResponsesItem = z.infer<typeof item>;

/** Null where it is of no type that counts. Throws where it is, and cannot be read. */
export function parseResponsesEvent(raw: unknown): ResponsesEvent | null {
  return parseEvent(raw, { types: TYPES, schema: event });
}

export function parseResponsesItem(raw: unknown): ResponsesItem {
  const parsed = item.safeParse(raw);
  if (!parsed.success) throw new MalformedStream('an item that cannot be read', { cause: parsed.error });
  return parsed.data;
}
