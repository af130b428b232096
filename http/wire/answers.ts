/**
 * The answers of `/v1`: their schemas, their types, and the rendering of what the services say. Nothing is checked with
 * the schemas while the server runs; the OpenAPI document shows them, and tests hold every answer against them.
 */
import { z } from 'zod';
import { SESSION_STATUSES } from '../../machines/projections/status.ts';
import type { ResolvedModel } from '../../machines/records.ts';
import type { CredentialView } from '../../services/credentials.ts';
import type { ServiceErrorCode } from '../../services/errors.ts';
import type { DamagedSessionView, SessionView, TurnAnswer, TurnReceipt } from '../../services/session-service.ts';
import { utcTime } from '../../machines/utc-time.ts';
import { jsonObjectSchema } from './messages.ts';
import { sessionIdSchema } from './names.ts';
import { finishReasonSchema, messageSchema, sequenceSchema, turnFailureCodeSchema, usageSchema } from './record-data.ts';
import { eventSchema, recordSchema } from './records.ts';

export const timeSchema = z
  .string()
  .meta({ format: 'date-time', description: 'RFC 3339 in UTC, without a fraction.', examples: ['2026-01-01T12:00:00Z'] });

export const errorSchema = z
  .object({
    error: z.object({
      code: z.string().meta({ description: 'What a program looks at.' }),
      message: z.string().meta({ description: 'One line for a person. Its wording may change.' }),
      retryable: z.boolean().meta({ description: 'Whether the very same request can succeed later.' }),
      details: jsonObjectSchema
        .meta({
          description: 'Where there is more to say. `field` is a JSON pointer to what is wrong, in the body or the query; empty for the whole of it.',
        })
        .exactOptional(),
    }),
  })
  .meta({ id: 'Error', description: 'What every answer is that is no success.' });
export type ErrorAnswer = Readonly<z.infer<typeof errorSchema>>;

/** Its codes. The schema takes any: a later server may say others. */
export type ErrorCode =
  | ServiceErrorCode
  | 'unauthorized'
  | 'unknown_harness'
  | 'method_not_allowed'
  | 'too_large'
  | 'unsupported_media_type';

export const sessionSchema = z
  .object({
    session_id: sessionIdSchema,
    tenant: z.string().meta({ description: "Whose session it is: the token's own tenant." }),
    status: z.enum(SESSION_STATUSES),
    resident: z.boolean().meta({ description: 'Whether the session is held in memory now.' }),
    last_sequence: sequenceSchema.meta({ description: "The last record's position in the journal." }),
    last_recorded_at: timeSchema.meta({ description: "The last record's time, public or private: RFC 3339 in UTC, without a fraction." }),
    running_turn: sequenceSchema.nullable().meta({ description: "That of the running turn's `turn_started`; null while none runs." }),
    queue_length: z.int().min(0).meta({ description: 'How many messages wait for their turn.' }),
    created_at: timeSchema,
    updated_at: timeSchema.meta({ description: "The last public record's time: RFC 3339 in UTC, without a fraction." }),
    agentloop: z.object({ name: z.string(), configuration: jsonObjectSchema }),
    model: z.object({ provider: z.string(), name: z.string(), credential: z.string().exactOptional() }),
    system: z.string().exactOptional(),
    tools: z
      .array(z.string())
      .readonly()
      .meta({ description: "Names, as a create takes them; what each stands for is in the session's first event." }),
    environments: z.array(z.string()).readonly(),
    after_stop: z.enum(['idle', 'hold']),
    idle_ttl_ms: z.number().nullable(),
    metadata: z.record(z.string(), z.string()).readonly(),
    explanation: z
      .string()
      .exactOptional()
      .meta({ description: 'Why the session is running, interrupted, failed or ending: what it waits for, or what stopped it.' }),
  })
  .meta({ id: 'Session' });
export type SessionAnswer = Readonly<z.infer<typeof sessionSchema>>;

const damagedSessionSchema = z
  .object({ session_id: sessionIdSchema, damaged: z.literal(true), explanation: z.string() })
  .meta({
    id: 'DamagedSession',
    description: 'A session whose journal cannot be read: all that is known is that it is there, and why it is not shown.',
  });
export type DamagedSessionAnswer = Readonly<z.infer<typeof damagedSessionSchema>>;

export const sessionListSchema = z
  .object({
    sessions: z.array(z.union([sessionSchema, damagedSessionSchema])).readonly(),
    next_cursor: sessionIdSchema.nullable().meta({ description: 'Where the next page begins; null at the end.' }),
  })
  .meta({ id: 'SessionList' });
export type SessionListAnswer = Readonly<z.infer<typeof sessionListSchema>>;

export const turnSchema: z.ZodType<TurnAnswer> = z
  .object({
    session_id: sessionIdSchema,
    sequence: sequenceSchema.meta({ description: 'That of `turn_started`.' }),
    outcome: z.enum(['ended', 'failed']),
    result: z
      .object({ text: z.string(), message: messageSchema, finish_reason: finishReasonSchema, usage: usageSchema.exactOptional() })
      .meta({ description: "The agent's answer, where it is a model's message." })
      .exactOptional(),
    error: z
      .object({ code: turnFailureCodeSchema, message: z.string() })
      .meta({ description: 'Why the turn failed; only where it did.' })
      .exactOptional(),
    status: z.enum(SESSION_STATUSES).meta({ description: "The session's, after the turn." }),
    last_sequence: sequenceSchema.meta({ description: "That of the turn's last record." }),
  })
  .meta({ id: 'Turn', description: 'A turn that is over. A turn that failed is no error of its request.' });

export const turnReceiptSchema: z.ZodType<TurnReceipt> = z
  .object({ session_id: sessionIdSchema, sequence: sequenceSchema.meta({ description: 'That of `turn_started`.' }) })
  .meta({ id: 'TurnReceipt' });

export const cancelSchema = z.object({ status: z.literal('cancel_requested') });
export type CancelAnswer = Readonly<z.infer<typeof cancelSchema>>;

const nextSequence = sequenceSchema.meta({
  description: 'The cursor after which the next page begins. It moves on past what is not shown, and stays where it is at the end.',
});

export const eventPageSchema = z.object({ events: z.array(eventSchema).readonly(), next_cursor: nextSequence }).meta({ id: 'EventPage' });
export type EventPageAnswer = Readonly<z.infer<typeof eventPageSchema>>;

export const journalPageSchema = z.object({ records: z.array(recordSchema).readonly(), next_cursor: nextSequence }).meta({ id: 'JournalPage' });
export type JournalPageAnswer = Readonly<z.infer<typeof journalPageSchema>>;

export const transcriptSchema = z
  .object({
    messages: z.array(messageSchema).readonly(),
    through_sequence: sequenceSchema.meta({ description: 'The last record that this takes account of.' }),
  })
  .meta({ id: 'Transcript' });
export type TranscriptAnswer = Readonly<z.infer<typeof transcriptSchema>>;

export const credentialListSchema = z
  .object({ credentials: z.array(z.object({ name: z.string(), updated_at: timeSchema })).readonly() })
  .meta({ id: 'CredentialList' });
export type CredentialListAnswer = Readonly<z.infer<typeof credentialListSchema>>;

export type { TurnAnswer, TurnReceipt };

export function sessionAnswer(session: SessionView): SessionAnswer {
  return {
    session_id: session.session_id,
    tenant: session.tenant,
    status: session.status,
    resident: session.resident,
    last_sequence: session.last_sequence,
    last_recorded_at: utcTime(session.last_recorded_at),
    running_turn: session.running_turn,
    queue_length: session.queue_length,
    created_at: utcTime(session.created_at),
    updated_at: utcTime(session.updated_at),
    agentloop: session.agentloop,
    model: modelAnswer(session.model),
    ...(session.system === undefined ? {} : { system: session.system }),
    tools: session.tools.map((tool) => tool.name),
    environments: session.environments,
    after_stop: session.after_stop,
    idle_ttl_ms: session.retain,
    metadata: session.metadata,
    ...(session.explanation === undefined ? {} : { explanation: session.explanation }),
  };
}

/** As a create takes it. Where a provider is reached is the deployment's affair. */
function modelAnswer({ provider, name, credential }: ResolvedModel): SessionAnswer['model'] {
  return credential === undefined ? { provider, name } : { provider, name, credential };
}

export function credentialListAnswer(credentials: readonly CredentialView[]): CredentialListAnswer {
  return { credentials: credentials.map(({ name, updated_at }) => ({ name, updated_at: utcTime(updated_at) })) };
}

export function listedSessionAnswer(session: SessionView | DamagedSessionView): SessionAnswer | DamagedSessionAnswer {
  if ('damaged' in session) return { session_id: session.session_id, damaged: true, explanation: session.message };
  return sessionAnswer(session);
}
