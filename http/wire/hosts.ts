/** What hosts send and are sent. */
import { z } from 'zod';
import { ENVIRONMENT_CONTRACT } from '../../services/environments/operation.ts';
import { receiptSchema } from '../../services/environments/receipts.ts';
import { jsonObjectSchema } from './messages.ts';
import { nameSchema, sessionIdSchema } from './names.ts';
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

/** The data of `command`. */
export const hostCommandSchema = z
  .object({
    contract: z.literal(ENVIRONMENT_CONTRACT),
    operation: z.object({
      session_id: sessionIdSchema,
      environment: nameSchema,
      sequence,
      request: jsonObjectSchema.meta({
        description: 'By its `type`: `setup { configuration }`, `invoke { tool, input, deadline_ms, configuration? }`, `detach` or `teardown`.',
      }),
    }),
  })
  .meta({ id: 'HostCommand' });

/** The data of `cancel`. */
export const hostCancelSchema = z.object({ session_id: sessionIdSchema, sequence }).meta({ id: 'HostCancel' });
