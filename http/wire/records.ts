/** Records and events as answers show them: the schemas of what is in a page, and of what comes by in a stream. */
import { z } from 'zod';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import { CHART_STATES } from '../../machines/projections/status.ts';
import { RECORD_VISIBILITY, type RecordType, type SessionRecord } from '../../machines/records.ts';
import type { LiveContent } from '../../services/session-service.ts';
import { jsonObjectSchema, jsonSchema } from './messages.ts';
import { ends, ofTurn, originSchema, RECORDS, sequenceSchema } from './record-data.ts';

const envelope = {
  sequence: sequenceSchema,
  recorded_at: z.int().meta({ description: 'When it was recorded, epoch milliseconds.' }),
};

const keyedRequest = z
  .object({ key: z.string(), route: z.string(), body: z.string() })
  .meta({ description: 'The request with an `Idempotency-Key` that caused this record; `body` is the SHA-256 of its canonical JSON.' });

const entries: readonly (readonly [type: string, record: { readonly says: string; readonly data: z.ZodType }])[] = Object.entries(RECORDS);

// That each type goes with its own data is seen to where they are written; a list of them does not show it to the compiler.
export const recordSchema = z
  .union(
    entries.map(([type, { says, data }]) =>
      z
        .object({
          ...envelope,
          type: z.literal(type),
          state: z.enum(CHART_STATES).meta({ description: 'The state to which the record led.' }),
          request: keyedRequest.exactOptional(),
          data,
        })
        .meta({ description: says }),
    ),
  )
  .meta({ id: 'Record', description: "An entry of a session's journal." }) as z.ZodType<SessionRecord>;

/** A change of the conversation is shown under this name, where it takes something away. */
export const TRANSCRIPT_EVENT = 'transcript_replaced';

export const eventSchema: z.ZodType<PublicEvent> = z
  .union([
    ...entries
      .filter(([type]) => RECORD_VISIBILITY[type as RecordType] === 'public' && type !== 'extension_emitted')
      .map(([type, { says, data }]) => z.object({ ...envelope, type: z.literal(type), data }).meta({ description: says })),
    z
      .object({ ...envelope, type: z.literal(TRANSCRIPT_EVENT), data: RECORDS.transcript_delta.data })
      .meta({ description: 'Messages of the conversation were replaced.' }),
    z
      .object({
        ...envelope,
        type: z.string().regex(/^[^\s.]+\.\S+$/),
        data: jsonSchema,
        origin: originSchema.exactOptional(),
      })
      .meta({ description: RECORDS.extension_emitted.says }),
  ])
  .meta({ id: 'Event', description: 'A public record. Sequences have holes where a record is private. More types may come: pass over those that you do not know.' });

const liveTypes = { model_delta: 'model_delta', tool_progress: 'tool_progress', telemetry: 'telemetry' } satisfies {
  readonly [T in LiveContent['type']]: T;
};
export const LIVE_TYPES: readonly string[] = Object.values(liveTypes);

export const liveEventSchema: z.ZodType<LiveContent> = z
  .union([
    z
      .object({
        type: z.literal(liveTypes.model_delta),
        data: z.union([
          z.object({ ...ends, text: z.string() }),
          z.object({ ...ends, reasoning: z.string() }),
          z.object({ ...ends, tool_input: z.string() }),
        ]),
      })
      .meta({ description: 'A piece of an answer that is still being streamed.' }),
    z
      .object({
        type: z.literal(liveTypes.tool_progress),
        data: z.object({ ...ends, message: z.string().exactOptional(), fraction: z.number().exactOptional() }),
      })
      .meta({ description: 'How far a tool call is.' }),
    z
      .object({ type: z.literal(liveTypes.telemetry), data: z.object({ ...ofTurn, record: jsonObjectSchema }) })
      .meta({ description: 'A measurement of the agent loop.' }),
  ])
  .meta({ id: 'LiveEvent', description: 'What only those see who watch as it happens: it has no sequence, and is not told again.' });
