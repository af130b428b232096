/**
 * The request of a recorded model call, whole again: the transcript as it was saved then, changed by the call's delta,
 * and the session's configuration with what differed from it.
 */
import type { JsonObject, Message } from '../messages.ts';
import type { ResolvedTool, Sequence, SessionRecord } from '../records.ts';
import { Transcript } from './transcript.ts';

export interface RecordedModelRequest {
  readonly provider: string;
  readonly model: string;
  readonly system: string | null;
  readonly messages: readonly Message[];
  readonly tools: readonly ResolvedTool[];
  readonly parameters: JsonObject;
}

/** The request that `model_call_started` at `sequence` recorded; null where no such record is there. */
export function modelRequestAt(records: readonly SessionRecord[], sequence: Sequence): RecordedModelRequest | null {
  const started = records.find((record) => record.sequence === sequence);
  const created = records.find((record) => record.type === 'session_created');
  if (started?.type !== 'model_call_started' || created === undefined) return null;
  const { provider, model, context } = started.data;

  const saved = new Transcript();
  for (const record of records) {
    if (record.sequence <= context.through_sequence) saved.apply(record);
  }
  const { system = null, tools } = created.data;
  return {
    provider,
    model,
    system: context.system === undefined ? system : context.system,
    messages: saved.with(context.delta),
    tools: context.tools === undefined ? tools : toolsNamed(tools, context.tools),
    parameters: context.parameters ?? {},
  };
}

/** The tools of a session that a request names: in the order of the names, each once. */
export function toolsNamed(tools: readonly ResolvedTool[], names: readonly string[]): readonly ResolvedTool[] {
  return [...new Set(names)].flatMap((name) => tools.filter((tool) => tool.name === name));
}
