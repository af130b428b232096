/**
 * Messages as clients write them: the input of a turn, and the opening conversation of a session. What the transcript
 * route shows is accepted here as it is.
 *
 * A tool call may be written by hand with `input` alone, or with the provider's `input_text` alone: the other follows
 * from it. Where both are given they must agree, since one is shown to the model and the other to whoever reads along.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ContentBlock, JsonObject, JsonValue, Message, ToolOutcome, ToolUseBlock, UserInput } from '../../machines/messages.ts';
import { parseJsonText } from './json-text.ts';
import { charactersSchema } from './names.ts';

export const toolOutcomeSchema = z.enum({
  ok: 'ok',
  error: 'error',
  timeout: 'timeout',
  cancelled: 'cancelled',
  unknown: 'unknown',
} satisfies { readonly [O in ToolOutcome]: O });

/** Any JSON. It was parsed and looked through with the body, and is handed on untouched. */
export const jsonSchema = z
  .custom<JsonValue>((value) => value !== undefined, { error: 'must be JSON' })
  .meta({ description: 'Any JSON value.' });

export const jsonObjectSchema = z
  .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), {
    error: 'must be a JSON object',
  })
  .meta({ type: 'object', description: 'Any JSON object.' });

const provider = jsonSchema
  .meta({ description: 'What a provider needs back unchanged, such as a signature. Brain keeps it and never looks into it.' })
  .exactOptional();

// Brain never fetches these itself, but what does must not be led to a local file.
const urlSchema = z
  .string()
  .refine((url) => /^(https?|data):/i.test(url) && URL.canParse(url), { error: 'must be an http, https or data URL' })
  .meta({
    pattern: '^([Hh][Tt][Tt][Pp][Ss]?|[Dd][Aa][Tt][Aa]):',
    description: 'An http, https or data URL, as the WHATWG URL standard reads one.',
  });
const mediaTypeSchema = z
  .string()
  .regex(/^[\w.+-]{1,127}\/[\w.+-]{1,127}$/, { error: 'must be a media type such as image/png' })
  .meta({ examples: ['image/png'] });

const text = z.strictObject({ type: z.literal('text'), text: z.string(), provider });
const spokenText = z.strictObject({ type: z.literal('text'), text: z.string().min(1), provider });
const reasoning = z
  .strictObject({ type: z.literal('reasoning'), text: z.string(), provider })
  .meta({ description: 'What the model thought, as far as its provider shows it.' });
const image = z.strictObject({ type: z.literal('image'), url: urlSchema, media_type: mediaTypeSchema, provider });
const file = z.strictObject({ type: z.literal('file'), url: urlSchema, media_type: mediaTypeSchema, provider });

const toolUse = z
  .strictObject({
    type: z.literal('tool_use'),
    id: z.string().meta({ description: "The provider's own name for the call. A result names it." }),
    // Models make names up; what one has said stays what it has said.
    name: charactersSchema({ min: 1, max: 256 }),
    input: jsonSchema.meta({ description: 'The arguments. Given alone, the text follows from them.' }).exactOptional(),
    input_text: z
      .string()
      .meta({ description: "The arguments as the provider's exact text; the empty text stands for `{}`. Given alone, `input` follows from it where it is JSON." })
      .exactOptional(),
    provider,
  })
  .transform((block, context): ToolUseBlock => {
    const { input, input_text: inputText, ...rest } = block;
    if (inputText === undefined) {
      if (input !== undefined) return { ...rest, input, input_text: JSON.stringify(input) };
      context.addIssue({ code: 'custom', path: ['input'], message: 'is missing: a tool call needs input or input_text' });
      return z.NEVER;
    }
    const parsed = parseJsonText(inputText === '' ? '{}' : inputText);
    if (input === undefined) {
      return parsed.kind === 'value' ? { ...rest, input: parsed.value, input_text: inputText } : { ...rest, input_text: inputText };
    }
    if (parsed.kind === 'value' && isDeepStrictEqual(parsed.value, input)) return { ...rest, input, input_text: inputText };
    context.addIssue({ code: 'custom', path: ['input'], message: 'must be what input_text parses to; one of the two is enough' });
    return z.NEVER;
  })
  .meta({
    anyOf: [{ required: ['input'] }, { required: ['input_text'] }],
    description: 'A tool call that the model asked for. Where both `input` and `input_text` are given they must say the same.',
  });

const toolResult = z
  .strictObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.array(z.discriminatedUnion('type', [text, image, file])),
    is_error: z.boolean().meta({ description: 'Default: true for every outcome but `ok`.' }).exactOptional(),
    outcome: toolOutcomeSchema.meta({ description: 'Default: `error` where `is_error` is true, else `ok`.' }).exactOptional(),
  })
  .transform((block, context) => {
    const { is_error: isError, outcome, ...rest } = block;
    if (isError === false && (outcome === 'timeout' || outcome === 'cancelled' || outcome === 'unknown')) {
      context.addIssue({ code: 'custom', path: ['is_error'], message: `must be true where the outcome is ${outcome}` });
      return z.NEVER;
    }
    const resolved = outcome ?? (isError === true ? 'error' : 'ok');
    return { ...rest, is_error: isError ?? resolved !== 'ok', outcome: resolved };
  })
  .meta({
    not: {
      properties: { is_error: { const: false }, outcome: { enum: ['timeout', 'cancelled', 'unknown'] } },
      required: ['is_error', 'outcome'],
    },
    description: 'What became of a tool call.',
  });

const message: z.ZodType<Message> = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.array(z.discriminatedUnion('type', [text, image, file, toolResult])),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.array(z.discriminatedUnion('type', [text, reasoning, toolUse, image, file])),
  }),
]);

export const transcriptSchema: z.ZodType<readonly Message[]> = z.array(message.meta({ id: 'GivenMessage' }));

const contentBlock: z.ZodType<ContentBlock> = z
  .discriminatedUnion('type', [spokenText, image, file])
  .meta({ id: 'InputBlock', description: 'A part of a message: text that is not empty, an image or a file.' });

/** What a person says in a turn. It says something: providers refuse an empty message, and so would every later turn. */
export const inputSchema: z.ZodType<UserInput> = z
  .union([z.string().min(1), z.array(contentBlock).min(1)])
  .meta({ id: 'Input', description: 'What is said to the agent: plain text, or blocks. Neither may be empty.' });
