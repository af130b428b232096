/** Declared environments: what a declaration may say, and how it is shown. */
import { z } from 'zod';
import { SIDE_EFFECTS } from '../../machines/records.ts';
import { utcTime } from '../../machines/utc-time.ts';
import type { EnvironmentView } from '../../services/environments/declarations.ts';
import { TOOLS_MAX } from '../../services/tools/tool.ts';
import { timeSchema } from './answers.ts';
import { jsonObjectSchema } from './messages.ts';
import { nameSchema, toolNameSchema } from './names.ts';

const declaredTool = z.strictObject({
  name: toolNameSchema,
  description: z.string().meta({ description: 'For the model.' }),
  input_schema: jsonObjectSchema.meta({
    type: 'object',
    description: 'What its input must be: JSON Schema, draft 2020-12, or draft-07 where `$schema` says so. It refers to nothing but itself. Every call is checked with it.',
  }),
  effect: z
    .enum(SIDE_EFFECTS)
    .meta({ description: 'What a repeat of the same call would do: nothing, the same again, or a second time. Default: `once`.' })
    .exactOptional(),
  configuration: jsonObjectSchema.meta({ description: 'What the environment is told with each call of it. No secret.' }).exactOptional(),
});

const declared = {
  configuration: jsonObjectSchema.meta({ description: 'What its setup is told. No secret: it is shown and recorded. Default: `{}`.' }).exactOptional(),
  tools: z.array(declaredTool).max(TOOLS_MAX).meta({ description: 'What it offers. No two have one name.' }),
};

export const declareEnvironmentBody = z
  .discriminatedUnion('driver', [
    z
      .strictObject({
        driver: z.literal('http'),
        url: z.string().meta({ description: 'Where its operations go: http or https, without a user, a query or a fragment.', examples: ['https://tools.example/brain'] }),
        credential: nameSchema.meta({ description: 'A stored credential, sent as a bearer token. Default: none is sent.' }).exactOptional(),
        ...declared,
      })
      .meta({ description: 'A service that is called.' }),
    z
      .strictObject({
        driver: z.literal('host'),
        host: nameSchema.meta({ description: "The host that carries its operations out, by its stable name. Default: the environment's own name." }).exactOptional(),
        ...declared,
      })
      .meta({ description: 'A process of yours that connects to this server.' }),
  ])
  .meta({ id: 'DeclareEnvironment' });

const shown = {
  name: z.string(),
  configuration: jsonObjectSchema,
  tools: z
    .array(
      z.object({
        name: z.string(),
        description: z.string(),
        input_schema: jsonObjectSchema,
        effect: z.enum(SIDE_EFFECTS),
        configuration: jsonObjectSchema.exactOptional(),
      }),
    )
    .readonly(),
  created_at: timeSchema,
  updated_at: timeSchema,
};

export const environmentSchema = z
  .discriminatedUnion('driver', [
    z.object({ driver: z.literal('http'), url: z.string(), credential: z.string().exactOptional(), ...shown }),
    z.object({ driver: z.literal('host'), host: z.string(), ...shown }),
  ])
  .meta({ id: 'Environment', description: 'A declaration as it is stored: what was left out of it has its default.' });
export type EnvironmentAnswer = Readonly<z.infer<typeof environmentSchema>>;

export const environmentListSchema = z.object({ environments: z.array(environmentSchema).readonly() }).meta({ id: 'EnvironmentList' });
export type EnvironmentListAnswer = Readonly<z.infer<typeof environmentListSchema>>;

export function environmentAnswer({ created_at, updated_at, ...declaration }: EnvironmentView): EnvironmentAnswer {
  return { ...declaration, created_at: utcTime(created_at), updated_at: utcTime(updated_at) };
}
