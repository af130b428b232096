/** What an operation is called: its session and the sequence of its start, everywhere, and nothing else anywhere. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionRecord } from '../../../machines/records.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { TENANT } from '../../support/living-brain.ts';
import { calling, saying, ScriptedModel } from '../../support/scripted-model.ts';
import { ScriptedTools } from '../../support/scripted-tools.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { call, RETURNED, TurnStage } from '../../support/turn-stage.ts';

const KEPT = path.resolve(import.meta.dirname, '../../replay/fixtures');

/** One turn with a model call and a tool call, in which both sides say and emit something; and what each was told. */
async function aTurn() {
  const told: { readonly answers: unknown[] } = { answers: [] };
  const stage = await TurnStage.set(
    async (input, host) => {
      const answer = await host.model({ messages: [input.message] });
      const [result] = await host.dispatch([call('act', { a: 1 })]);
      const emitted = await host.emit('acme.of_the_loop', {});
      told.answers.push('sequence' in answer ? answer.sequence : null, result?.sequence, 'sequence' in emitted ? emitted.sequence : null);
      return RETURNED;
    },
    {
      model: new ScriptedModel((asked) => (asked.say({ text: 'hel' }), saying('hello'))),
      tools: new ScriptedTools(['look', 'act'], async ({ context }) => {
        context.progress({ fraction: 1 });
        await context.emit('acme.of_the_tool', {});
        return 'done';
      }),
    },
  );
  const reader = await LiveReader.of(stage.brain.sessions, stage.sessionId);
  await quiescence();
  await stage.send();
  await quiescence();
  return { stage, reader, told };
}

const SAID_BY_OTHERS = ['input', 'output', 'provider', 'configuration', 'input_schema', 'value'];

/** The fields of a value, at any depth, by their names; not those of what a client, a tool or a provider said. */
function fieldsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => (SAID_BY_OTHERS.includes(name) ? [name] : [name, ...fieldsOf(inner)]));
}

function keptRecords(): readonly SessionRecord[] {
  return readdirSync(KEPT).flatMap((name) => {
    const lines = readFileSync(path.join(KEPT, name), 'utf8').trimEnd().split('\n');
    return lines.slice(0, -1).map((line) => JSON.parse(line) as SessionRecord);
  });
}

describe('an operation', () => {
  it('S-053: is named by its session and its start in the journal, to its executor, in all that this says, and to the loop', async () => {
    const { stage, reader, told } = await aTurn();
    const [model] = await stage.records('model_call_started');
    const [tool] = await stage.records('tool_call_started');
    const [emitted] = (await stage.records('extension_emitted')).filter(({ data }) => data.name === 'acme.of_the_loop');

    const { context } = await stage.brain.tools.calls.at(0);
    expect({ session_id: context.session_id, sequence: context.sequence }).toEqual({ session_id: stage.sessionId, sequence: tool?.sequence });
    expect(reader.live).toEqual([
      { type: 'model_delta', message_sequence: model?.data.message_sequence, data: { started_sequence: model?.sequence, text: 'hel' } },
      { type: 'tool_progress', message_sequence: tool?.data.message_sequence, data: { started_sequence: tool?.sequence, fraction: 1 } },
    ]);
    expect(await stage.records('model_call_ended')).toMatchObject([{ data: { started_sequence: model?.sequence } }]);
    expect(await stage.records('tool_call_ended')).toMatchObject([{ data: { started_sequence: tool?.sequence } }]);
    const [ended] = await stage.records('model_call_ended');
    expect(told.answers).toEqual([ended?.sequence, tool?.sequence, emitted?.sequence]);
  });

  it('S-047, S-048: that emits is an agent loop or a tool, and its start is the origin', async () => {
    const { stage } = await aTurn();
    const [activation] = await stage.records('activation_started');
    const [tool] = await stage.records('tool_call_started');

    const { items } = await stage.brain.sessions.events(TENANT, stage.sessionId, { after: 0, limit: 100 });
    expect(items.flatMap(({ type, origin }) => (type.startsWith('acme.') ? [[type, origin]] : []))).toEqual([
      ['acme.of_the_tool', { kind: 'tool', sequence: tool?.sequence }],
      ['acme.of_the_loop', { kind: 'agentloop', sequence: activation?.sequence }],
    ]);
    expect(items.filter(({ type, origin }) => !type.startsWith('acme.') && origin !== undefined)).toEqual([]);
  });

  it('S-054: has no other name, in no record of any kind, and none is given to its executor', async () => {
    const { stage } = await aTurn();
    stage.brain.model.script = (_call, index) => (index === 1 ? calling({ tool: 'look' }) : saying('done'));
    const { session_id } = await stage.brain.createChat();
    await stage.brain.sessions.send(TENANT, session_id, 'hello');
    const records = [...keptRecords(), ...(await stage.brain.journal(stage.sessionId)), ...(await stage.brain.journal(session_id))];

    const names = new Set(records.flatMap(({ data }) => fieldsOf(data)).filter((name) => /(^|_)(id|ids|uuid|guid|ulid|token|handle|key|keys)$/i.test(name)));
    // What a provider calls a tool call, in its own message and beside the call; and the key of a key value or a request.
    expect([...names].toSorted()).toEqual(['id', 'key', 'tool_use_id']);
    const withKey = new Set(records.flatMap((record) => (fieldsOf(record.data).includes('key') ? [record.type] : [])));
    expect([...withKey].filter((type) => !['kv_put', 'kv_deleted', 'message_queued'].includes(type))).toEqual([]);
    const toolUses = JSON.stringify(records).split('{"type":"tool_use","id":').length - 1;
    expect(records.flatMap(({ data }) => fieldsOf(data)).filter((name) => name === 'id')).toHaveLength(toolUses);
    expect(records.flatMap((record) => Object.keys(record)).filter((name) => !['sequence', 'recorded_at', 'type', 'state', 'request', 'data'].includes(name))).toEqual([]);
    const { context } = await stage.brain.tools.calls.at(0);
    expect(Object.keys(context).toSorted()).toEqual(['emit', 'progress', 'sequence', 'session_id', 'signal']);
  });

  it('S-059: of a tool is recorded with its tool and no place: where the call goes stands in the creation alone', async () => {
    const { stage } = await aTurn();

    const started = await stage.records('tool_call_started');
    expect(started.map(({ data }) => Object.keys(data).toSorted())).toEqual([['deadline', 'effect', 'input_text', 'message_sequence', 'tool', 'tool_use_id']]);
    const [created] = await stage.records('session_created');
    expect(created?.data.tools).toMatchObject([{ name: 'look', environment: 'brain' }, { name: 'act', environment: 'brain' }]);
    const others = (await stage.brain.journal(stage.sessionId)).slice(1);
    expect(others.flatMap(({ data }) => fieldsOf(data)).filter((name) => /environment|url|address|target|host/.test(name))).toEqual([]);
  });
});
