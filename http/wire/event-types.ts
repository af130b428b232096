/**
 * Events as clients in TypeScript see them: unions that `type` tells apart, each with a last member for what a later
 * server may say. Types alone; the schemas are beside.
 */
import type { JsonValue } from '../../machines/messages.ts';
import type { LifecycleData } from '../../machines/projections/lifecycle-events.ts';
import type { Origin, RecordData, RecordType } from '../../machines/records.ts';
import type { LiveContent } from '../../services/session-service.ts';
import type { LiveLifecycleEventAnswer } from './lifecycle-events.ts';

/** Records that no event shows, or that are shown under another name. */
type HiddenType = 'session_suspended' | 'kv_put' | 'kv_deleted' | 'request_answered' | 'transcript_delta' | 'extension_emitted';
export type EventType = Exclude<RecordType, HiddenType>;

/**
 * Stands for the types that a later server may say. They are any text; written so, the compiler still tells the known
 * types apart by comparing, and a `default` is left with something.
 */
export type OtherType = `(${string})`;

interface Recorded {
  readonly sequence: number;
  /** Epoch milliseconds. */
  readonly recorded_at: number;
  readonly origin?: Origin;
}

type EventOfType<T extends EventType> = { readonly [K in T]: Recorded & { readonly type: K; readonly data: RecordData[K] } }[T];

/** An event of `/v1` that is recorded. The types of extensions have a dot in them. */
export type RecordedEvent =
  | EventOfType<EventType>
  | (Recorded & { readonly type: 'transcript_replaced'; readonly data: RecordData['transcript_delta'] })
  | (Recorded & { readonly type: `${string}.${string}`; readonly data: JsonValue })
  | (Recorded & { readonly type: OtherType; readonly data: unknown });

/** What only those see who watch as it happens: it has no sequence. */
export type LivingEvent = (LiveContent | { readonly type: OtherType; readonly data: unknown }) & { readonly sequence?: never; readonly origin?: never };

interface Told {
  /** The event's cursor. */
  readonly id: string;
  readonly session_id: string;
  readonly time: string;
  readonly input_id?: string;
}

/** What names a call is said in other words there. */
type ToldData = {
  readonly [K in keyof LifecycleData]: K extends 'tool.call' | 'tool.result'
    ? Omit<LifecycleData[K], 'started_sequence'> & { readonly call_id: number }
    : LifecycleData[K];
};

/** An event of `/sessions` that is retained. */
export type ToldEvent =
  | { readonly [K in keyof ToldData]: Told & { readonly type: K } & ToldData[K] }[keyof ToldData]
  | (Told & { readonly type: OtherType });

/** An event of `/sessions` that passes by: it has no id. */
export type LivingToldEvent = (LiveLifecycleEventAnswer | { readonly type: OtherType; readonly session_id: string; readonly time: string }) & { readonly id?: never };
