/** The answers of `/sessions` but for its events: their schemas, their types, and the rendering of what the services say. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../machines/messages.ts';
import type { Checkpoint } from '../../machines/projections/session-facts.ts';
import { LIFECYCLE_STATUSES, type LifecycleStatus } from '../../machines/projections/status.ts';
import type { DamagedSessionView, SessionView, WaitingMessage } from '../../services/session-service.ts';
import { utcTime } from '../../machines/utc-time.ts';
import { timeSchema } from './answers.ts';
import { inputIdOf, inputIdSchema } from './lifecycle-queries.ts';
import { createLifecycleSessionBody } from './lifecycle-requests.ts';
import { sessionIdSchema } from './names.ts';
import { sequenceSchema } from './record-data.ts';

const checkpointSchema = z
  .object({
    id: z.string().regex(/^[0-9a-f]{32}$/),
    offset: sequenceSchema.meta({ description: "Its position in the session's journal; 0 is the session's creation." }),
    time: timeSchema,
  })
  .meta({ description: 'Where a resume goes back to: the end of the last completed turn.' });

const configSchema: z.ZodType<JsonObject> = z.object({
  ...createLifecycleSessionBody.shape.config.shape,
  // Sessions of the other surface may have models of any name.
  model: z.string(),
});

export const lifecycleSessionSchema = z
  .object({
    id: sessionIdSchema,
    harness: z.string(),
    config: configSchema.meta({ description: 'As it was sent.' }),
    status: z.enum(LIFECYCLE_STATUSES),
    created_at: timeSchema,
    updated_at: timeSchema.meta({ description: "The last public record's time: RFC 3339 in UTC, without a fraction." }),
    checkpoint: checkpointSchema.nullable().meta({ description: 'Null where the session could not be created.' }),
    after_stop: z.literal('idle').meta({ description: 'Left out where it is `hold`.' }).exactOptional(),
    metadata: z.record(z.string(), z.string()).readonly().meta({ description: 'Left out where there is none.' }).exactOptional(),
  })
  .meta({ id: 'LifecycleSession' });
export type LifecycleSessionAnswer = Readonly<z.infer<typeof lifecycleSessionSchema>>;

const damagedLifecycleSessionSchema = z
  .object({ id: sessionIdSchema, damaged: z.literal(true), explanation: z.string() })
  .meta({
    id: 'DamagedLifecycleSession',
    description: 'A session whose journal cannot be read: all that is known is that it is there, and why it is not shown.',
  });

export const lifecycleSessionListSchema = z
  .object({ sessions: z.array(z.union([lifecycleSessionSchema, damagedLifecycleSessionSchema])).readonly() })
  .meta({ id: 'LifecycleSessionList' });
export type LifecycleSessionListAnswer = Readonly<z.infer<typeof lifecycleSessionListSchema>>;

export const interruptSchema = z.object({ status: z.literal('interrupt_requested') });
export type InterruptAnswer = Readonly<z.infer<typeof interruptSchema>>;

export const closeSchema = z.object({ status: z.literal('close_requested') });
export type CloseAnswer = Readonly<z.infer<typeof closeSchema>>;

export const queueSchema = z
  .object({
    messages: z
      .array(z.object({ input_id: inputIdSchema, text: z.string(), time: timeSchema }))
      .readonly()
      .meta({ description: 'In the order in which they will be run.' }),
  })
  .meta({ id: 'Queue' });
export type QueueAnswer = Readonly<z.infer<typeof queueSchema>>;

/** `status`: that of the view, which is of a session that is there. */
export function lifecycleSessionAnswer(session: SessionView, status: LifecycleStatus): LifecycleSessionAnswer {
  const { session_id: id, agentloop, created_at, updated_at, checkpoint, after_stop, metadata } = session;
  return {
    id,
    harness: agentloop.name,
    config: configOf(session),
    status,
    created_at: utcTime(created_at),
    updated_at: utcTime(updated_at),
    checkpoint: checkpoint === null ? null : checkpointAnswer(id, checkpoint),
    ...(after_stop === 'hold' ? {} : { after_stop }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

export function damagedLifecycleSessionAnswer({ session_id: id, message }: DamagedSessionView): z.infer<typeof damagedLifecycleSessionSchema> {
  return { id, damaged: true, explanation: message };
}

export function queueAnswer(messages: readonly WaitingMessage[]): QueueAnswer {
  return {
    messages: messages.map(({ message_sequence, text, recorded_at }) => {
      return { input_id: inputIdOf(message_sequence), text, time: utcTime(recorded_at) };
    }),
  };
}

const MODEL_SETTINGS = ['reasoning_effort', 'max_output_tokens', 'temperature'] as const satisfies readonly (keyof CreatedConfig)[];
type CreatedConfig = z.infer<typeof createLifecycleSessionBody>['config'];

/** What a create gave is shown as it gave it; of a session of the other surface, what it has. */
function configOf({ model, system, tools, agentloop: { configuration }, config_fields: given }: SessionView): JsonObject {
  const settings = MODEL_SETTINGS.flatMap((name) => {
    const value = configuration[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const config: JsonObject = {
    model: `${model.provider}/${model.name}`,
    ...(system === undefined && given?.includes('instructions') !== true ? {} : { instructions: system ?? '' }),
    ...(given?.includes('tools') === false ? {} : { tools: tools.map(({ name }) => name) }),
  };
  return { ...config, ...Object.fromEntries(settings) };
}

/** The id says nothing that the session and the offset do not: it is the same whenever it is asked for. */
function checkpointAnswer(sessionId: string, { offset, recorded_at }: Checkpoint): z.infer<typeof checkpointSchema> {
  const id = createHash('sha256').update(`${sessionId}/${offset}`).digest('hex').slice(0, 32);
  return { id, offset, time: utcTime(recorded_at) };
}
