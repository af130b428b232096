/** A journal of many turns with a tool call each, as the charts lead it: for what has to stay quick however long a session is. */
import { SNAPSHOT_OF_NO_SESSION } from '../machines/chart-step.ts';
import { Draft } from '../machines/dry-run.ts';
import type { Retain, SessionCreated, SessionRecord } from '../machines/records.ts';

const STARTED_AT = 1_767_268_800_000;

const CREATED: SessionCreated = {
  tenant: 'local',
  surface: 'v1',
  agentloop: 'chat',
  configuration: {},
  model: { provider: 'demo', name: 'echo', protocol: 'demo' },
  tools: [],
  environments: [],
  retain: null,
  after_stop: 'idle',
  metadata: {},
};

/** After the first two records of a session. */
export const RECORDS_PER_TURN = 15;

/** `retain`: as the server is to keep the session in memory. */
export function journalOfTurns(turns: number, { retain = null }: { readonly retain?: Retain } = {}): readonly SessionRecord[] {
  const draft = new Draft(SNAPSHOT_OF_NO_SESSION);
  draft.add('session_created', { ...CREATED, retain });
  draft.add('session_ready', {});
  for (let turn = 0; turn < turns; turn += 1) addTurn(draft, turn);
  return draft.records.map((record) => ({ ...record, recorded_at: STARTED_AT + record.sequence * 10 }));
}

function addTurn(draft: Draft, turn: number): void {
  const message_sequence = draft.add('message_queued', { input: `question ${turn}`, mode: 'async' });
  draft.add('turn_started', { message_sequence });
  const loop = draft.add('activation_started', { message_sequence, agentloop: 'chat' });
  draft.add('transcript_delta', { message_sequence, from: turn * 4, messages: [{ sequences: [message_sequence] }] });
  const use = { type: 'tool_use', id: 'call_1', name: 'look', input: {}, input_text: '{}' } as const;
  const asked = addModelCall(draft, message_sequence, [use]);
  draft.add('transcript_delta', { message_sequence, from: turn * 4 + 1, messages: [{ sequences: [asked] }] });
  const call = draft.add('tool_call_started', { message_sequence, tool: 'look', tool_use_id: 'call_1', input_text: '{}', deadline: null, effect: 'read' });
  const result = draft.add('tool_call_ended', { message_sequence, started_sequence: call, outcome: 'ok', output: `seen ${turn}`, is_error: false });
  draft.add('kv_put', { message_sequence, key: `seen/${turn % 10}`, value: turn });
  const answered = addModelCall(draft, message_sequence, [{ type: 'text', text: `answer ${turn}` }]);
  draft.add('transcript_delta', { message_sequence, from: turn * 4 + 2, messages: [{ sequences: [result] }, { sequences: [answered] }] });
  draft.add('activation_ended', { message_sequence, started_sequence: loop });
  draft.add('turn_ended', { message_sequence, next: null, end: false });
}

function addModelCall(draft: Draft, message_sequence: number, content: Extract<SessionRecord, { type: 'model_call_ended' }>['data']['message']['content']): number {
  const context = { through_sequence: message_sequence, delta: null };
  const started_sequence = draft.add('model_call_started', { message_sequence, provider: 'demo', model: 'echo', message_count: 1, context });
  return draft.add('model_call_ended', { message_sequence, started_sequence, message: { role: 'assistant', content }, finish_reason: 'stop' });
}
