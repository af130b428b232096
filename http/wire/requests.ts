/** The bodies of `/v1`. Fields that are not named here are refused by name. */
import { z } from 'zod';
import { METADATA_PAIRS_MAX } from '../../machines/decide.ts';
import type { Metadata } from '../../machines/records.ts';
import { inputSchema, jsonObjectSchema, transcriptSchema } from './messages.ts';
import { charactersSchema, modelNameSchema, nameSchema, toolNameSchema } from './names.ts';

// Providers take no more tools than this in one request.
const TOOLS_MAX = 128;
// Metadata is for finding a session again; whatever is larger has its place elsewhere.
const METADATA_KEY_CHARACTERS_MAX = 64;
const METADATA_VALUE_CHARACTERS_MAX = 512;

const metadataKeySchema = charactersSchema({ min: 1, max: METADATA_KEY_CHARACTERS_MAX });
const metadataValueSchema = charactersSchema({ min: 0, max: METADATA_VALUE_CHARACTERS_MAX });

const metadataSchema: z.ZodType<Metadata> = z
  .record(metadataKeySchema, metadataValueSchema)
  .refine((metadata) => Object.keys(metadata).length <= METADATA_PAIRS_MAX, {
    error: `must hold at most ${METADATA_PAIRS_MAX} pairs`,
  });

/** A list in which no name stands twice. */
function distinct(names: z.ZodArray<z.ZodString>): z.ZodArray<z.ZodString> {
  return names.superRefine((list, context) => {
    const repeated = list.findIndex((name, index) => list.indexOf(name) < index);
    if (repeated >= 0) context.addIssue({ code: 'custom', path: [repeated], message: 'must not name again what is in the list' });
  });
}

export const createSessionBody = z.strictObject({
  agentloop: z.strictObject({ name: nameSchema, configuration: jsonObjectSchema.exactOptional() }).exactOptional(),
  model: z
    .strictObject({ provider: nameSchema, name: modelNameSchema, credential: nameSchema.exactOptional() })
    .exactOptional(),
  system: z.string().exactOptional(),
  environments: distinct(z.array(nameSchema)).exactOptional(),
  tools: distinct(z.array(toolNameSchema).max(TOOLS_MAX)).exactOptional(),
  transcript: transcriptSchema.exactOptional(),
  idle_ttl_ms: z.int().min(0).nullable().exactOptional(),
  after_stop: z.enum(['idle', 'hold']).exactOptional(),
  metadata: metadataSchema.exactOptional(),
});
export type CreateSessionBody = z.infer<typeof createSessionBody>;

export const sendMessageBody = z.strictObject({ input: inputSchema });

/** A credential: what goes into a header or a form, so that nothing in it may be invisible. */
export const storeCredentialBody = z.strictObject({
  value: z.string().regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,8192}$/u, { error: 'must be 1 to 8192 printable characters' }),
});

/** Of the verbs that say everything by their path. */
export const emptyBody = z.strictObject({});

/** A null takes the name away. How many names are left is the session's to say. */
export const changeMetadataBody = z.strictObject({ metadata: z.record(metadataKeySchema, metadataValueSchema.nullable()) });

/** Filters of the list, by key: a session is listed where all of them are so. */
export const metadataFilters = z.record(metadataKeySchema, metadataValueSchema);
