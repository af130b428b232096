/**
 * The events of Anthropic Messages that make up an answer, as far as Brain reads them. There are others, and there will be
 * more: the protocol asks to pass over what is not known.
 */
import { z } from 'zod';
import { count } from './provider-usage.ts';
import { parseEvent } from './stream-events.ts';

const usageSchema = z
  .object({
    input_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    output_tokens: count,
    output_tokens_details: z.object({ thinking_tokens: count }).nullish().catch(undefined),
  })
  .nullish()
  .catch(undefined);


const started = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string().nullish() }),
  z.object({ type: z.literal('thinking'), thinking: z.string().nullish(), signature: z.string().nullish() }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown().optional() }),
]);

const piece = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text_delta'), text: z.string() }),
  z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.object({ type: z.literal('signature_delta'), signature: z.string() }),
  z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
  // Where a text was found, for texts that the request gave. It changes no word of the answer.
  z.object({ type: z.literal('citations_delta') }),
]);

const index = z.int().nonnegative();
const event = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message_start'),
    message: z.object({ id: z.string().nullish(), content: z.array(z.never()).nullish(), usage: usageSchema }),
  }),
  z.object({ type: z.literal('content_block_start'), index, content_block: started }),
  z.object({ type: z.literal('content_block_delta'), index, delta: piece }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({ type: z.literal('message_delta'), delta: z.object({ stop_reason: z.string().nullish() }), usage: usageSchema }),
  z.object({ type: z.literal('message_stop') }),
  z.object({ type: z.literal('error'), error: z.unknown().optional() }),
]);

const BLOCK_TYPES = ['content_block_start', 'content_block_delta', 'content_block_stop'] as const;
const TYPES = ['message_start', ...BLOCK_TYPES, 'message_delta', 'message_stop', 'error'] as const;

export type AnthropicEvent = z.infer<typeof event>;
export type AnthropicBlockStart = z.infer<typeof started>;
export type AnthropicPiece = z.infer<typeof piece>;
export type AnthropicUsage = z.infer<typeof usageSchema>;

/** Null where it is of no type that counts. Throws where it is, and cannot be read. */
export function parseAnthropicEvent(raw: unknown): AnthropicEvent | null {
  return parseEvent(raw, { types: TYPES, schema: event });
}
