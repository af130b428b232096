/**
 * The data of each type of record, written once more as schemas for the OpenAPI document. The compiler holds them against
 * the journal's own vocabulary, type by type.
 */
import { z } from 'zod';
import type { Message } from '../../machines/messages.ts';
import type { EffectOutcome, FinishReason, Origin, RecordData, RecordType, SideEffect, TurnFailureCode } from '../../machines/records.ts';
import { jsonObjectSchema, jsonSchema, toolOutcomeSchema } from './messages.ts';

export const sequenceSchema = z.int().min(0).meta({ description: "A position in the session's journal, counted from 1; 0 is before the first." });

const provider = jsonSchema.exactOptional();
const textBlock = z.object({ type: z.literal('text'), text: z.string(), provider });
const imageBlock = z.object({ type: z.literal('image'), url: z.string(), media_type: z.string(), provider });
const fileBlock = z.object({ type: z.literal('file'), url: z.string(), media_type: z.string(), provider });
const contentBlock = z.discriminatedUnion('type', [textBlock, imageBlock, fileBlock]);
const outcomeSchema = toolOutcomeSchema.meta({
  description: '`timeout` and `cancelled` do not say that nothing happened outside; `unknown` says that it may have.',
});

export const messageSchema: z.ZodType<Message> = z
  .object({
    role: z.enum(['user', 'assistant']),
    content: z.array(
      z.discriminatedUnion('type', [
        textBlock,
        z.object({ type: z.literal('reasoning'), text: z.string(), provider }),
        z
          .object({
            type: z.literal('tool_use'),
            id: z.string(),
            name: z.string(),
            input: jsonSchema.meta({ description: 'The parse of `input_text`; absent where that is no JSON.' }).exactOptional(),
            input_text: z.string().meta({ description: "The provider's exact text; the empty text stands for `{}`." }),
            provider,
          })
          .meta({ description: 'A tool call that the model asked for.' }),
        z.object({
          type: z.literal('tool_result'),
          tool_use_id: z.string(),
          content: z.array(contentBlock),
          is_error: z.boolean(),
          outcome: outcomeSchema,
        }),
        imageBlock,
        fileBlock,
      ]),
    ),
  })
  .meta({ id: 'Message', description: 'A message as Brain keeps it, the same for every provider.' });

export const usageSchema = z
  .object({
    input_tokens: z.number().exactOptional(),
    input_tokens_cache_read: z.number().exactOptional(),
    input_tokens_cache_write: z.number().exactOptional(),
    output_tokens: z.number().exactOptional(),
    output_tokens_reasoning: z.number().exactOptional(),
  })
  .meta({ id: 'Usage', description: 'Tokens as the provider counted them. What it did not say is absent, which is not zero.' });

// Objects and not lists, so that the compiler misses a value that is not here.
export const finishReasonSchema = z.enum({
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
} satisfies { readonly [R in FinishReason]: R });

export const turnFailureCodeSchema = z
  .enum({
    cancelled: 'cancelled',
    turn_timeout: 'turn_timeout',
    model_call_limit: 'model_call_limit',
    emitted_bytes_limit: 'emitted_bytes_limit',
    model_error: 'model_error',
    model_unknown: 'model_unknown',
    loop_error: 'loop_error',
    interrupted_by_restart: 'interrupted_by_restart',
    shutdown: 'shutdown',
    closed: 'closed',
    internal: 'internal',
  } satisfies { readonly [C in TurnFailureCode]: C })
  .meta({ id: 'TurnFailureCode', description: 'Why a turn failed. More codes may come.' });

const metadataSchema = z.record(z.string(), z.string());
const sideEffectSchema = z
  .enum({ read: 'read', idempotent: 'idempotent', once: 'once' } satisfies { readonly [E in SideEffect]: E })
  .meta({ description: 'What a second call would do outside: nothing, the same again, or a second time.' });
const effectOutcomeSchema = z
  .enum({ failed: 'failed', unknown: 'unknown', cancelled: 'cancelled' } satisfies { readonly [O in EffectOutcome]: O })
  .meta({ description: '`failed`: refused or ended in error. `cancelled`, `unknown`: it may have taken effect outside.' });
const nothing = z.object({});
export const ofTurn = { message_sequence: sequenceSchema.meta({ description: 'The `message_queued` whose turn this is.' }) };
export const ends = { started_sequence: sequenceSchema.meta({ description: 'The record with which this began.' }) };
const failure = { code: z.string(), message: z.string() };
const turnFailure = { code: turnFailureCodeSchema, message: z.string() };
const operationStarted = z.object({
  environment: z.string(),
  request: z.discriminatedUnion('type', [
    z.object({ type: z.literal('setup'), configuration: jsonObjectSchema }),
    z.object({ type: z.literal('detach') }),
    z.object({ type: z.literal('teardown') }),
  ]),
});
const operationEnded = z.object({
  ...ends,
  receipt: z.discriminatedUnion('type', [z.object({ type: z.literal('accepted') }), z.object({ type: z.literal('result'), output: jsonSchema })]),
});
const operationFailed = z.object({ ...ends, outcome: effectOutcomeSchema, ...failure });

export const originSchema = z
  .object({ kind: z.enum({ agentloop: 'agentloop', tool: 'tool' } satisfies { readonly [K in Origin['kind']]: K }), sequence: sequenceSchema })
  .meta({ description: 'The execution that said it, by its start record. Nobody vouches that it is true.' });

const messagesDelta = {
  from: z.int().min(0).meta({ description: 'How many messages stay.' }),
  messages: z
    .array(
      z.union([
        messageSchema,
        z
          .object({ sequences: z.array(sequenceSchema) })
          .meta({ description: 'A message that other records hold: a `message_queued`, a `model_call_ended`, or the results of tool calls.' }),
      ]),
    )
    .meta({ description: 'What follows them.' }),
};

/** What each type of record says, in words and as its data. */
export const RECORDS: { readonly [T in RecordType]: { readonly says: string; readonly data: z.ZodType<RecordData[T]> } } = {
  session_created: {
    says: 'The session was created, and this is all that its names stood for.',
    data: z.object({
      tenant: z.string(),
      surface: z.enum(['v1', 'sessions']),
      agentloop: z.string(),
      configuration: jsonObjectSchema,
      model: z.object({
        provider: z.string(),
        name: z.string(),
        protocol: z.string(),
        base_url: z.string().exactOptional(),
        credential: z.string().exactOptional(),
      }),
      system: z.string().exactOptional(),
      tools: z.array(
        z.object({
          name: z.string(),
          description: z.string(),
          input_schema: jsonObjectSchema,
          effect: sideEffectSchema,
          environment: z.string(),
          configuration: jsonObjectSchema.exactOptional(),
        }),
      ),
      environments: z.array(
        z.discriminatedUnion('driver', [
          z.object({ name: z.string(), configuration: jsonObjectSchema, driver: z.literal('http'), url: z.string(), credential: z.string().exactOptional() }),
          z.object({ name: z.string(), configuration: jsonObjectSchema, driver: z.literal('host'), host: z.string() }),
        ]),
      ),
      retain: z.number().nullable(),
      after_stop: z.enum(['idle', 'hold']),
      metadata: metadataSchema,
      config_fields: z
        .array(z.string())
        .meta({ description: 'The fields of the `config` that a create of `/sessions` gave.' })
        .exactOptional(),
    }),
  },
  session_ready: { says: 'The session takes messages.', data: nothing },
  session_failed: { says: 'The session could not be created.', data: z.object(failure) },
  session_metadata_changed: { says: 'The metadata is this now, all of it.', data: z.object({ metadata: metadataSchema }) },
  session_suspended: { says: 'The session went out of memory.', data: nothing },
  session_resumed: {
    says: 'The session went back to its last completed turn.',
    data: z.object({ checkpoint_sequence: sequenceSchema }),
  },
  session_end_requested: { says: "The session's end was asked for.", data: z.object({ mode: z.enum(['wait', 'interrupt']) }) },
  session_ending: { says: 'Nothing more is accepted.', data: z.object({ message_sequence: sequenceSchema.exactOptional() }) },
  session_ended: { says: 'The session is over.', data: nothing },
  session_delete_requested: { says: 'The session is about to be removed.', data: nothing },

  message_queued: {
    says: 'A message was accepted.',
    data: z.object({
      input: z.union([z.string(), z.array(contentBlock)]),
      mode: z.enum(['sync', 'async', 'queue']),
      key: z.string().exactOptional(),
    }),
  },
  message_withdrawn: { says: 'A waiting message was taken back.', data: z.object(ofTurn) },
  message_failed: { says: 'A waiting message will not be run.', data: z.object({ ...ofTurn, code: z.literal('conflict') }) },

  turn_started: { says: 'A turn began.', data: z.object(ofTurn) },
  turn_cancel_requested: {
    says: 'The running turn was told to stop.',
    data: z.object({ ...ofTurn, by: z.enum(['caller', 'deadline', 'close', 'shutdown']) }),
  },
  turn_ended: {
    says: 'The turn is over. `next` is the message that is run next, `end` whether the session ends now.',
    data: z.object({ ...ofTurn, next: sequenceSchema.nullable(), end: z.boolean() }),
  },
  turn_failed: { says: 'The turn failed.', data: z.object({ ...ofTurn, ...turnFailure, end: z.boolean() }) },

  activation_started: { says: 'The agent loop was called.', data: z.object({ ...ofTurn, agentloop: z.string() }) },
  activation_ended: {
    says: 'The agent loop returned.',
    data: z.object({
      ...ofTurn,
      ...ends,
      result: z
        .union([z.object({ sequence: sequenceSchema }), z.object({ value: jsonSchema })])
        .meta({ description: "The `model_call_ended` that is the answer, or the loop's own value." })
        .exactOptional(),
    }),
  },
  activation_failed: { says: 'The agent loop failed or was stopped.', data: z.object({ ...ofTurn, ...ends, ...turnFailure }) },

  model_call_started: {
    says: 'A request goes to the model.',
    data: z.object({
      ...ofTurn,
      provider: z.string(),
      model: z.string(),
      message_count: z.int().min(0),
      context: z
        .object({
          through_sequence: sequenceSchema,
          delta: z.object(messagesDelta).nullable(),
          system: z.string().nullable().exactOptional(),
          tools: z.array(z.string()).exactOptional(),
          parameters: jsonObjectSchema.exactOptional(),
        })
        .meta({ description: 'From which saved transcript the request begins, and how it differs.' }),
    }),
  },
  model_call_ended: {
    says: 'The model answered.',
    data: z.object({
      ...ofTurn,
      ...ends,
      message: messageSchema,
      finish_reason: finishReasonSchema,
      usage: usageSchema.exactOptional(),
    }),
  },
  model_call_failed: {
    says: 'The model did not answer.',
    data: z.object({ ...ofTurn, ...ends, outcome: effectOutcomeSchema, ...failure, usage: usageSchema.exactOptional() }),
  },

  tool_call_started: {
    says: 'A tool is called.',
    data: z.object({
      ...ofTurn,
      tool: z.string(),
      tool_use_id: z.string(),
      input_text: z.string(),
      input: jsonSchema.exactOptional(),
      deadline: z.number().nullable().meta({ description: 'Epoch milliseconds; null without a bound.' }),
      effect: sideEffectSchema,
    }),
  },
  tool_call_ended: {
    says: 'A tool call is over.',
    data: z.object({ ...ofTurn, ...ends, outcome: outcomeSchema, output: jsonSchema, is_error: z.boolean() }),
  },

  environment_setup_started: { says: 'An environment is set up.', data: operationStarted },
  environment_setup_ended: { says: 'An environment is set up now.', data: operationEnded },
  environment_setup_failed: { says: 'An environment could not be set up.', data: operationFailed },
  environment_detach_started: { says: 'An environment is let go.', data: operationStarted },
  environment_detach_ended: { says: 'An environment was let go.', data: operationEnded },
  environment_detach_failed: { says: 'An environment could not be let go.', data: operationFailed },
  environment_teardown_started: { says: 'An environment is taken down.', data: operationStarted },
  environment_teardown_ended: { says: 'An environment was taken down.', data: operationEnded },
  environment_teardown_failed: { says: 'An environment could not be taken down.', data: operationFailed },

  extension_emitted: {
    says: "An agent loop or a tool said something of its own. Shown as an event of the extension's type.",
    data: z.object({ ...ofTurn, origin: originSchema.exactOptional(), name: z.string(), data: jsonSchema }),
  },
  transcript_delta: {
    says: 'The conversation changed. `replaces` is there where messages were taken away.',
    data: z.object({
      message_sequence: sequenceSchema.exactOptional(),
      ...messagesDelta,
      replaces: z.int().min(0).exactOptional(),
    }),
  },
  kv_put: { says: 'The agent loop stored a value.', data: z.object({ ...ofTurn, key: z.string(), value: jsonSchema }) },
  kv_deleted: { says: 'The agent loop took a value away.', data: z.object({ ...ofTurn, key: z.string() }) },
  request_answered: { says: 'A keyed request changed nothing, and its key is known.', data: nothing },
};
