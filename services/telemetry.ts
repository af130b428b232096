/**
 * Telemetry of agent loops: for whoever watches right now, and for a sink where one is set. It is no history: none of it
 * is in a journal, and what a sink cannot take is dropped rather than waited for.
 */
import type { JsonObject } from '../machines/messages.ts';
import type { Sequence } from '../machines/records.ts';

export interface TelemetryLine {
  readonly session_id: string;
  readonly message_sequence: Sequence;
  /** Epoch milliseconds. */
  readonly recorded_at: number;
  readonly record: JsonObject;
}

export interface TelemetrySink {
  /** Never throws and never waits. */
  write(line: TelemetryLine): void;
}

/** Where nobody asked for any. */
export const noTelemetry: TelemetrySink = { write: () => undefined };
