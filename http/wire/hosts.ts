/** What hosts send and are sent. */
import { z } from 'zod';
import { ENVIRONMENT_CONTRACT } from '../../services/environments/operation.ts';
import { receiptSchema } from '../../services/environments/receipts.ts';
import { jsonObjectSchema } from './messages.ts';
import { nameSchema, sessionIdSchema, toolNameSchema } from './names.ts';
import { emitFields, progressFields } from './operation-reports.ts';

export const registerHostBody = z
  .strictObject({
    name: nameSchema.meta({ description: 'The name that environments give as their `host`. It stays the same for good.' }),
    incarnation: nameSchema.meta({ description: 'Of this one process: a new one for each start.' }),
  })
  .meta({ id: 'RegisterHost' });

export const registeredHostSchema = z
  .object({
    host: nameSchema,
    token: z.string().meta({ description: 'For the routes of this host, and for nothing else. It cannot be asked for again.' }),
  })
  .meta({ id: 'RegisteredHost' });
export type RegisteredHostAnswer = Readonly<z.infer<typeof registeredHostSchema>>;

const sequence = z.int().min(1).meta({ description: 'Of the operation, in its session.' });
const operationName = {
  session_id: z.string().regex(/^[0-9a-f]{32}$/, { error: 'must be the id of a session, 32 lower-case hex digits' }),
  sequence,
};

export const hostResultBody = z.strictObject({ ...operationName, receipt: receiptSchema }).meta({ id: 'HostResult' });
export const hostEmitBody = z.strictObject({ ...operationName, ...emitFields }).meta({ id: 'HostEmit' });
export const hostProgressBody = z.strictObject({ ...operationName, ...progressFields }).meta({ id: 'HostProgress' });

const operationRequestSchema = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('setup'), configuration: jsonObjectSchema }),
    z.object({
      type: z.literal('invoke'),
      tool: toolNameSchema,
      input: z.unknown().meta({ description: 'Any JSON value: what the model gave, as the schema of the tool allows it.' }),
      deadline_ms: z.int().min(0).nullable().meta({ description: 'What is left until the deadline of the call. Null: it has none.' }),
      configuration: jsonObjectSchema.meta({ description: "The tool's own, where its declaration has one." }).exactOptional(),
    }),
    z.object({ type: z.literal('cancel'), target_sequence: z.int().min(1) }).meta({ description: 'Of an environment over HTTP alone: a host is sent the event `cancel`.' }),
    z.object({ type: z.literal('detach') }),
    z.object({ type: z.literal('teardown') }),
  ])
  .meta({ id: 'OperationRequest' });

const callbackSchema = z
  .object({ url: z.string(), token: z.string(), methods: z.array(z.enum(['result', 'emit', 'progress'])) })
  .meta({ id: 'OperationCallback', description: 'Where an environment over HTTP reports on an `invoke`. A host has none: it has routes of its own.' });

/** The data of `command`, and the body of what an environment over HTTP is asked. */
export const hostCommandSchema = z
  .object({
    contract: z.literal(ENVIRONMENT_CONTRACT),
    operation: z.object({
      session_id: sessionIdSchema,
      environment: nameSchema,
      sequence,
      request: operationRequestSchema,
      callback: callbackSchema.exactOptional(),
    }),
  })
  .meta({ id: 'EnvironmentOperation', description: 'What an environment is asked: the data of a command to a host, and the body of `POST {url}/v1/operations` to an environment over HTTP.' });

/** The data of `cancel`. */
export const hostCancelSchema = z.object({ session_id: sessionIdSchema, sequence }).meta({ id: 'HostCancel' });
