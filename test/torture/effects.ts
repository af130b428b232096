/** Compares what the model and the tools were asked, as they counted it, with what the journals say was started and ended. */
import type { JournalRecord } from '../support/brain-api.ts';
import type { OpenAiServer } from '../support/openai-server.ts';
import type { ToolServer } from '../support/tool-server.ts';
import type { FarTools } from './far-tools.ts';
import type { Ledger } from './ledger.ts';
import { readModelCall } from './message-plan.ts';
import { messageSequences } from './promises.ts';

export function faultsOfEffects(ledger: Ledger, model: OpenAiServer, tools: ToolServer, far: FarTools): readonly string[] {
  return [...model.refusals.map((refusal) => `a strict provider refuses: ${refusal}`), ...faultsOfModelCalls(ledger, model), ...faultsOfToolCalls(ledger, tools, far)];
}

function faultsOfModelCalls(ledger: Ledger, model: OpenAiServer): readonly string[] {
  const asked = new Map<string, number[]>();
  for (const call of model.calls.all) {
    const { plan, messageCount } = readModelCall(call);
    asked.set(plan.token, [...(asked.get(plan.token) ?? []), messageCount]);
  }
  // Each call of a turn has more messages than the one before it.
  const repeated = [...asked].filter(([, counts]) => new Set(counts).size !== counts.length);
  return [
    ...repeated.map(([token, counts]) => `the model was asked twice for ${token}: requests of ${counts.join(', ')} messages`),
    ...[...ledger.sessions.values()].flatMap(({ id, records }) =>
      [...messageSequences(records)].flatMap(([token, [sequence]]) => {
        const ofTurn = records.filter(({ data }) => data['message_sequence'] === sequence);
        const started = ofTurn.filter(({ type }) => type === 'model_call_started').length;
        const answered = ofTurn.filter(({ type }) => type === 'model_call_ended').length;
        const count = asked.get(token)?.length ?? 0;
        return count <= started && answered <= count ? [] : [`${id}: ${token} has ${started} model calls, ${answered} of them answered, and the model counted ${count}`];
      }),
    ),
  ];
}

function faultsOfToolCalls(ledger: Ledger, tools: ToolServer, far: FarTools): readonly string[] {
  const asked = new Set<string>();
  const repeated: string[] = [];
  for (const { session_id, sequence } of tools.calls.all) {
    const name = `${session_id}/${sequence}`;
    if (asked.has(name)) repeated.push(`the tool call ${name} came twice`);
    asked.add(name);
  }
  const answering = new Set([...asked, ...far.asked]);
  const journals = new Map<string, readonly JournalRecord[]>([...ledger.sessions.values()].map(({ id, records }) => [id, records]));
  const unrecorded = tools.calls.all.filter(({ session_id, sequence }) => {
    const records = journals.get(session_id);
    // A session that was deleted took its last records with it.
    return records !== undefined && records[sequence - 1] !== undefined && records[sequence - 1]?.type !== 'tool_call_started';
  });
  const unasked = [...journals].flatMap(([id, records]) =>
    records
      .filter(({ type, data }) => type === 'tool_call_ended' && data['outcome'] === 'ok' && !answering.has(`${id}/${String(data['started_sequence'])}`))
      .map(({ sequence }) => `${id}: record ${sequence} ends a tool call that no tool got`),
  );
  return [...repeated, ...unrecorded.map(({ session_id, sequence }) => `the tool call ${session_id}/${sequence} is not recorded`), ...unasked];
}
