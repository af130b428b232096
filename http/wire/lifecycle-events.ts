/** Events as `/sessions` shows them: the schemas of what is on a page and in a stream, and their rendering. */
import { z } from 'zod';
import type { LifecycleData, LifecycleEvent } from '../../machines/projections/lifecycle-events.ts';
import { LIFECYCLE_STATUSES } from '../../machines/projections/status.ts';
import type { LiveEvent } from '../../services/session-service.ts';
import { utcTime } from '../../machines/utc-time.ts';
import { timeSchema } from './answers.ts';
import { inputIdOf, inputIdSchema, LIFECYCLE_CURSOR, lifecycleCursorText } from './lifecycle-queries.ts';
import { jsonSchema, toolOutcomeSchema } from './messages.ts';
import { sessionIdSchema } from './names.ts';
import { sequenceSchema, usageSchema } from './record-data.ts';

const ofTurn = inputIdSchema.exactOptional();
const callIdSchema = sequenceSchema.meta({ description: "Names the call: the same in the call's progress and in its result." });
const reasoning = z.string().meta({ description: 'What the model thought, as far as its provider shows it.' });

/** What each type of event says beside what all say. */
const SAID = {
  'user.message': {
    says: 'A message was accepted. Its `input_id` is its own `id`.',
    data: { text: z.string(), key: z.string().exactOptional() },
  },
  'session.status': {
    says: 'The status changed. `running` comes with the message whose turn begins, `idle` with the one whose turn is over, and without one after a resume.',
    data: { status: z.enum(LIFECYCLE_STATUSES) },
  },
  'session.error': {
    says: 'A turn stopped early, or a message that waited is not run. `conflict`: since the session was interrupted or closed, or the turn before failed.',
    data: { code: z.string(), message: z.string() },
  },
  'assistant.message': {
    says: 'The model answered.',
    data: { text: z.string(), reasoning: reasoning.exactOptional(), usage: usageSchema.exactOptional() },
  },
  'tool.call': { says: 'A tool is called.', data: { call_id: callIdSchema, name: z.string(), input: jsonSchema } },
  'tool.result': {
    says: 'A tool call is over.',
    data: { call_id: callIdSchema, output: jsonSchema, is_error: z.boolean(), outcome: toolOutcomeSchema },
  },
} as const satisfies { readonly [T in keyof LifecycleData]: { readonly says: string; readonly data: Readonly<Record<string, z.ZodType>> } };

export const lifecycleEventSchema = z
  .union(
    Object.entries(SAID).map(([type, { says, data }]) =>
      z
        .object({
          id: z.string().regex(LIFECYCLE_CURSOR).meta({ description: 'Its cursor.' }),
          type: z.literal(type),
          session_id: sessionIdSchema,
          time: timeSchema,
          input_id: ofTurn,
          ...data,
        })
        .meta({ description: says }),
    ),
  )
  .meta({ id: 'LifecycleEvent', description: 'More types may come: pass over those that you do not know.' });

const live = { session_id: sessionIdSchema, time: timeSchema, input_id: inputIdSchema };

export const liveLifecycleEventSchema = z
  .union([
    z
      .object({ type: z.literal('assistant.delta'), ...live, text: z.string() })
      .meta({ description: 'A piece of an answer that is still being streamed.' }),
    z.object({ type: z.literal('assistant.delta'), ...live, reasoning }).meta({ description: 'A piece of what the model thinks.' }),
    z
      .object({
        type: z.literal('tool.progress'),
        ...live,
        call_id: callIdSchema,
        message: z.string().exactOptional(),
        fraction: z.number().exactOptional(),
      })
      .meta({ description: 'How far a tool call is.' }),
  ])
  .meta({ id: 'LiveLifecycleEvent', description: 'What only those see who watch as it happens: it has no `id`, and is not told again.' });
export type LiveLifecycleEventAnswer = Readonly<z.infer<typeof liveLifecycleEventSchema>>;

export const lifecycleEventPageSchema = z
  .object({
    events: z.array(lifecycleEventSchema).readonly(),
    next_cursor: z
      .string()
      .regex(LIFECYCLE_CURSOR)
      .meta({ description: 'The `after` of the next page. It moves on past what is not shown, and stays where it is at the end.' }),
  })
  .meta({ id: 'LifecycleEventPage' });

export interface LifecycleEventAnswer {
  readonly id: string;
  readonly type: LifecycleEvent['type'];
  readonly session_id: string;
  readonly time: string;
  readonly input_id?: string;
}

export function lifecycleEventAnswer(session_id: string, event: LifecycleEvent): LifecycleEventAnswer {
  const { type, recorded_at, input_sequence: input } = event;
  const input_id = input === undefined ? {} : { input_id: inputIdOf(input) };
  return { id: lifecycleCursorText(event), type, session_id, time: utcTime(recorded_at), ...input_id, ...saidOf(event) };
}

function saidOf(event: LifecycleEvent): object {
  if (event.type !== 'tool.call' && event.type !== 'tool.result') return event.data;
  const { started_sequence: call_id, ...rest } = event.data;
  return { call_id, ...rest };
}

/** Null: this surface does not tell it. `now`: epoch milliseconds; what passes by is told as it happens. */
export function liveLifecycleEventAnswer(session_id: string, event: LiveEvent, now: number): LiveLifecycleEventAnswer | null {
  const common = { session_id, time: utcTime(now), input_id: inputIdOf(event.message_sequence) };
  switch (event.type) {
    case 'model_delta': {
      const { data } = event;
      if ('text' in data) return { type: 'assistant.delta', ...common, text: data.text };
      return 'reasoning' in data ? { type: 'assistant.delta', ...common, reasoning: data.reasoning } : null;
    }
    case 'tool_progress': {
      const { started_sequence: call_id, ...progress } = event.data;
      return { type: 'tool.progress', ...common, call_id, ...progress };
    }
    case 'telemetry':
      return null;
  }
}
