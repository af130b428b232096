/** The bodies of `/v1`. Fields that are not named here are refused by name. */
import { z } from 'zod';
import { METADATA_PAIRS_MAX } from '../../machines/decide.ts';
import type { AfterStop, Metadata } from '../../machines/records.ts';
import { TOOLS_MAX } from '../../services/tools/tool.ts';
import { inputSchema, jsonObjectSchema, transcriptSchema } from './messages.ts';
import { charactersSchema, modelNameSchema, nameSchema, toolNameSchema } from './names.ts';

// Metadata is for finding a session again; whatever is larger has its place elsewhere.
const METADATA_KEY_CHARACTERS_MAX = 64;
const METADATA_VALUE_CHARACTERS_MAX = 512;

const metadataKeySchema = charactersSchema({ min: 1, max: METADATA_KEY_CHARACTERS_MAX });
const metadataValueSchema = charactersSchema({ min: 0, max: METADATA_VALUE_CHARACTERS_MAX });

/** Names and values of a client's own. */
export const metadataSchema: z.ZodType<Metadata> = z
  .record(metadataKeySchema, metadataValueSchema)
  .refine((metadata) => Object.keys(metadata).length <= METADATA_PAIRS_MAX, {
    error: `must hold at most ${METADATA_PAIRS_MAX} pairs`,
  })
  .meta({ maxProperties: METADATA_PAIRS_MAX });

/** A list in which no name stands twice. */
function distinct(names: z.ZodArray<z.ZodString>): z.ZodArray<z.ZodString> {
  return names
    .superRefine((list, context) => {
      const repeated = list.findIndex((name, index) => list.indexOf(name) < index);
      if (repeated >= 0) context.addIssue({ code: 'custom', path: [repeated], message: 'must not name again what is in the list' });
    })
    .meta({ uniqueItems: true });
}

export const toolNamesSchema = distinct(z.array(toolNameSchema).max(TOOLS_MAX));

export const afterStopSchema = z.enum(['idle', 'hold']);
const AFTER_STOP = 'Where a turn that was cancelled or failed leaves the session: free for the next message, or held until it is resumed.';
/** In words; the two surfaces differ in the default. */
export function afterStopWords(byDefault: AfterStop): string {
  return `${AFTER_STOP} Default: \`${byDefault}\`.`;
}

export const createSessionBody = z
  .strictObject({
    agentloop: z
      .strictObject({
        name: nameSchema,
        configuration: jsonObjectSchema
          .meta({ description: "Default: `{}`. What it may hold is the loop's to say." })
          .exactOptional(),
      })
      .meta({ description: 'What answers messages: `chat` (the default) or `pi`.' })
      .exactOptional(),
    model: z
      .strictObject({
        provider: nameSchema,
        name: modelNameSchema,
        credential: nameSchema
          .meta({ description: "A stored credential to call the provider with. Default: the server's own key." })
          .exactOptional(),
      })
      .meta({ description: 'The model that the loop calls. Default: `demo`, `echo`, which needs no network.' })
      .exactOptional(),
    system: z.string().meta({ description: 'The system prompt. The empty text is none.' }).exactOptional(),
    environments: distinct(z.array(nameSchema))
      .meta({ description: 'Declared environments whose tools the session gets. Default: none.' })
      .exactOptional(),
    tools: toolNamesSchema
      .meta({
        description: 'The tools that the model is offered. Left out: all of the environments named, and for `demo` its own three. Empty: none.',
      })
      .exactOptional(),
    transcript: transcriptSchema
      .meta({ description: 'The conversation so far. Each tool call in it is answered, in order, by the message after it.' })
      .exactOptional(),
    idle_ttl_ms: z
      .int()
      .min(0)
      .nullable()
      .meta({
        description: 'How long the session stays in memory after its work, in milliseconds. 0: for as long as the server runs. null: it is released at once. Default: as the server is configured.',
      })
      .exactOptional(),
    after_stop: afterStopSchema.meta({ description: afterStopWords('idle') }).exactOptional(),
    metadata: metadataSchema
      .meta({ description: 'Names and values of your own, to find the session again. Default: none.' })
      .exactOptional(),
  })
  .meta({ id: 'CreateSession', description: 'Names only: no secret, no address, no id. The empty object is enough.' });
export type CreateSessionBody = z.infer<typeof createSessionBody>;

export const sendMessageBody = z.strictObject({ input: inputSchema }).meta({ id: 'SendMessage' });

/** A credential: what goes into a header or a form, so that nothing in it may be invisible. */
export const storeCredentialBody = z
  .strictObject({
    value: z
      .string()
      .regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,8192}$/u, { error: 'must be 1 to 8192 printable characters' })
      .meta({ description: 'The secret. It is sealed, used, and never shown again.' }),
  })
  .meta({ id: 'StoreCredential' });

/** Of the verbs that say everything by their path. */
export const emptyBody = z.strictObject({}).meta({ description: 'Nothing: the path says everything.' });

/** What such a verb takes for a body, as its contract says it. */
export const noBody = {
  schema: emptyBody,
  isOptional: true,
  examples: { nothing: { summary: 'No body, or the empty object', value: {} } },
} as const;

/** A null takes the name away. How many names are left is the session's to say. */
const changeMetadataBody = z
  .strictObject({
    metadata: z
      .record(metadataKeySchema, metadataValueSchema.nullable())
      .meta({ description: `Names to set, and with null to take away. All others stay. The session has at most ${METADATA_PAIRS_MAX} afterwards.` }),
  })
  .meta({ id: 'ChangeMetadata' });

/** The body of a change of metadata, as a contract says it. */
export const metadataChanges = {
  schema: changeMetadataBody,
  isOptional: false,
  examples: { labels: { summary: 'One name set, one taken away', value: { metadata: { team: 'blue', draft: null } } } },
} as const;

/** Filters of the list, by key: a session is listed where all of them are so. No session has more names than this. */
export const metadataFilters = {
  prefix: 'metadata.',
  schema: metadataSchema,
  description: 'Only sessions whose metadata says this: `metadata.KEY=VALUE`, any number of them, with a KEY each. A value may be empty.',
} as const;
