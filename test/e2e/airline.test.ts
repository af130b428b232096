/** Recorded conversations, whole: what a transcript holds, what a kill in the middle leaves, and what it costs on the disk. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inParallel } from '../../bench/in-parallel.ts';
import { textsOf, toolNamesOf, type Recording, type Turn } from '../../bench/recordings.ts';
import { readAirline, transcriptOf } from '../support/airline.ts';
import type { TranscriptMessage } from '../support/brain-api.ts';
import { ConversationPlayer, type Hang } from '../support/conversation-player.ts';
import { answering, EnvironmentServer } from '../support/environment-server.ts';
import { faultsOf } from '../support/history.ts';
import { HostProcess } from '../support/host-process.ts';
import { journalBytes } from '../support/journal-size.ts';
import { runsLongForms, runsSlowTests } from '../support/slow-tests.ts';
import { LOOPS, Stage } from '../support/stage.ts';

const airline = readAirline();
/** All of them are in the middle of a turn when the server is killed. */
const CONVERSATIONS_PER_KILL = 10;
const FAREWELL: Turn = { input: 'Thank you, that is all.', steps: [{ text: 'Goodbye!', toolCalls: [] }] };

describe.skipIf(airline === null)('the recorded conversations', () => {
  const { conversations: all, system } = airline ?? { conversations: [], system: '' };
  const toolNames = toolNamesOf(all);
  const conversations = runsSlowTests ? all : all.slice(0, CONVERSATIONS_PER_KILL);
  let player: ConversationPlayer;
  let stage: Stage;

  beforeEach(async () => {
    player = new ConversationPlayer();
    stage = await Stage.set({ model: player.model, tools: toolNames.map((name) => ({ name })), tool: player.tool });
  });

  afterEach(async () => stage.strike());

  it.each(LOOPS)('S-062, S-065, S-083: end, with the loop %s, as the transcripts that were recorded, tool arguments byte for byte, on little disk', async (loop) => {
    await inParallel(conversations, 4, async (conversation) => {
      const id = await begin(conversation, null, loop);
      for (const turn of conversation.turns) await play(conversation, id, turn);

      expect(await stage.api.transcript(id)).toEqual(conversation.turns.flatMap(transcriptOf));
      const records = await stage.api.journal(id);
      expect(faultsOf(records)).toEqual([]);
      expect(await journalBytes(stage.server.dataDirectory, id)).toBeLessThanOrEqual(bytesAllowed(conversation.turns, records.length));
    });

    expect(all).toHaveLength(50);
    expect(stage.model.refusals).toEqual([]);
    expect(stage.tools.repeated).toEqual([]);
  });

  it('S-138, S-139, S-143: go on after a kill in the middle of each, with nothing lost and nothing sent twice', async () => {
    const plans = conversations.map((conversation, index) => plan(conversation, index));
    for (let first = 0; first < plans.length; first += CONVERSATIONS_PER_KILL) {
      const killed = plans.slice(first, first + CONVERSATIONS_PER_KILL);
      const ids = await inParallel(killed, CONVERSATIONS_PER_KILL, async ({ conversation, hang, before, loop }) => {
        const id = await begin(conversation, hang, loop);
        for (const turn of before) await play(conversation, id, turn);
        player.turn(conversation, hang.turn);
        await stage.api.submit(id, hang.turn.input);
        return id;
      });
      await player.hanging.at(first + killed.length - 1);
      const asked = stage.model.calls.all.length;

      await stage.server.killAndStart();

      await inParallel(killed, CONVERSATIONS_PER_KILL, async ({ conversation, hang, before, after }, index) => {
        const id = ids[index] ?? '';
        expect((await stage.api.session(id)).status, conversation.id).toBe('idle');
        for (const turn of after) await play(conversation, id, turn);

        expect(await stage.api.transcript(id), conversation.id).toEqual([
          ...before.flatMap(transcriptOf),
          ...transcriptUntil(hang),
          ...after.flatMap(transcriptOf),
        ]);
        expect(faultsOf(await stage.api.journal(id)), conversation.id).toEqual([]);
      });
      expect(stage.model.calls.all.length - asked).toBe(killed.flatMap(({ after }) => after.flatMap(({ steps }) => steps)).length);
    }

    expect(plans.map(({ hang }) => hang.at)).toEqual(expect.arrayContaining(['model', 'tool']));
    expect(stage.model.refusals).toEqual([]);
    expect(stage.tools.repeated).toEqual([]);
  });

  it('S-034, S-103: are the same with every tool in an environment, some results by callback, and kills during some calls', async () => {
    // A name is offered once: here the server has no tools of its own.
    await stage.strike();
    stage = await Stage.set({ model: player.model });
    const environment = await environmentOf(player);
    try {
      const tools = toolNames.map((name) => ({ name, description: 'an airline tool', input_schema: { type: 'object' }, effect: 'once' }));
      expect((await stage.api.request('PUT', '/v1/environments/airline', { driver: 'http', url: environment.url, tools })).status).toBe(200);
      const plans = conversations.filter((_, index) => runsLongForms || index < 6).map((conversation, index) => plan(conversation, index));
      for (let first = 0; first < plans.length; first += CONVERSATIONS_PER_KILL) {
        const killed = plans.slice(first, first + CONVERSATIONS_PER_KILL);
        const ids = await inParallel(killed, CONVERSATIONS_PER_KILL, async ({ conversation, hang, before, loop }) => {
          const id = await begin(conversation, hang, loop, { environments: ['airline'], tools: toolNames });
          for (const turn of before) await play(conversation, id, turn);
          player.turn(conversation, hang.turn);
          await stage.api.submit(id, hang.turn.input);
          return id;
        });
        await player.hanging.at(first + killed.length - 1);
        await stage.server.killAndStart();
        await inParallel(killed, CONVERSATIONS_PER_KILL, async ({ conversation, hang, before, after }, index) => {
          const id = ids[index] ?? '';
          for (const turn of after) await play(conversation, id, turn);
          const whole = [...before.flatMap(transcriptOf), ...transcriptUntil(hang), ...after.flatMap(transcriptOf)];
          expect(await stage.api.transcript(id), conversation.id).toEqual(whole);
          expect(faultsOf(await stage.api.journal(id)), conversation.id).toEqual([]);
        });
      }

      expect(environment.received.all.filter(({ operation }) => operation.request.type === 'invoke').length).toBeGreaterThan(plans.length);
      expect([stage.model.refusals, environment.repeated]).toEqual([[], []]);
    } finally {
      await environment.close();
    }
  });

  it('S-034, S-122, S-126: are the same with the tools in a process that is killed during a call of each, and comes back as another', async () => {
    await stage.strike();
    stage = await Stage.set({ model: player.model, tool: player.tool });
    const directory = await mkdtemp(path.join(tmpdir(), 'brain-airline-'));
    const callsFile = path.join(directory, 'calls');
    let host = await startHost(callsFile);
    try {
      const plans = conversations.flatMap((conversation, index) => planInTool(conversation, index)).slice(0, runsLongForms ? all.length : 6);
      const started: string[] = [];
      for (let first = 0; first < plans.length; first += CONVERSATIONS_PER_KILL) {
        const killed = plans.slice(first, first + CONVERSATIONS_PER_KILL);
        const under = await inParallel(killed, CONVERSATIONS_PER_KILL, async ({ conversation, hang, before, loop }) => {
          const id = await begin(conversation, hang, loop, { environments: ['airline'], tools: toolNames });
          for (const turn of before) await play(conversation, id, turn);
          const turn = play(conversation, id, hang.turn);
          // It is waited for below, once its call has been killed.
          turn.catch(() => undefined);
          return { id, turn };
        });
        await player.hanging.at(first + killed.length - 1);
        await host.kill();
        host = await startHost(callsFile);

        await inParallel(killed, CONVERSATIONS_PER_KILL, async ({ conversation, hang, before, after }, index) => {
          const { id = '', turn } = under[index] ?? {};
          await turn;
          for (const later of after) await play(conversation, id, later);
          const [, ...rest] = transcriptOf({ ...hang.turn, steps: hang.turn.steps.slice(hang.step + 1) });
          const whole = [...before.flatMap(transcriptOf), ...transcriptUntil(hang), ...rest, ...after.flatMap(transcriptOf)];
          expect(await stage.api.transcript(id), conversation.id).toEqual(whole);
          const records = await stage.api.journal(id);
          expect(faultsOf(records), conversation.id).toEqual([]);
          started.push(...records.flatMap(({ type, sequence }) => (type === 'tool_call_started' ? [`${id}/${sequence}`] : [])));
        });
      }

      const noted = (await readFile(callsFile, 'utf8')).trimEnd().split('\n');
      expect(noted.toSorted()).toEqual(started.toSorted());
      expect(noted.length).toBeGreaterThan(plans.length);
      expect([stage.model.refusals, stage.tools.repeated]).toEqual([[], []]);
    } finally {
      await host.kill();
      await rm(directory, { recursive: true });
    }
  });

  /** Serves every tool as the environment `airline`. The tools themselves act where the others do. */
  async function startHost(callsFile: string): Promise<HostProcess> {
    const names = { BRAIN_URL: stage.server.url, TOOL_NAMES: JSON.stringify(toolNames), CALLS_FILE: callsFile };
    return HostProcess.start('airline-host.mjs', { ...stage.tools.environment, ...names });
  }

  async function begin(conversation: Recording, hang: Hang | null, loop: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { session_id } = await stage.create({ agentloop: { name: loop }, model: { provider: 'openai', name: conversation.id }, system, ...more });
    player.enter(conversation, session_id, hang);
    return session_id;
  }

  async function play(conversation: Recording, id: string, turn: Turn): Promise<void> {
    player.turn(conversation, turn);
    const answer = await stage.api.send(id, turn.input);
    expect(answer, conversation.id).toMatchObject({ outcome: 'ended', result: { text: turn.steps.at(-1)?.text } });
  }

  function bytesAllowed(turns: readonly Turn[], recordCount: number): number {
    const texts = [system, ...turns.flatMap(textsOf)];
    return 2 * texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) + 200 * recordCount;
  }
});

/** Runs the tools of the recordings. Every other call is answered by its callback. */
async function environmentOf(player: ConversationPlayer): Promise<EnvironmentServer> {
  return EnvironmentServer.start(async ({ operation, report }) => {
    const { request, session_id, sequence } = operation;
    if (request.type !== 'invoke') return answering({ type: 'accepted' });
    const output = player.tool({ tool: request.tool, session_id, sequence, input: request.input, hungUp: Promise.resolve() });
    if (sequence % 2 === 0) return answering({ type: 'result', output: await output });
    // What is refused would be missing in the transcript.
    void output.then((value) => report('result', { receipt: { type: 'result', output: value } }));
    return answering({ type: 'accepted' });
  });
}

interface Plan {
  readonly conversation: Recording;
  readonly before: readonly Turn[];
  readonly hang: Hang;
  readonly after: readonly Turn[];
  readonly loop: string;
}

/**
 * The turn that the index picks hangs: in every other conversation in a tool, where the turn calls one, else in the model.
 * The loops take turns with pairs of conversations. Each ends with a farewell, so that something follows the last turn too.
 */
function plan(conversation: Recording, index: number): Plan {
  const { turns } = conversation;
  const at = index % turns.length;
  const turn = turns[at] ?? FAREWELL;
  const before = turns.slice(0, at);
  const after = [...turns.slice(at + 1), FAREWELL];
  const withTools = turn.steps.flatMap(({ toolCalls }, step) => (toolCalls.length > 0 ? [step] : []));
  const step = withTools[index % Math.max(1, withTools.length)];
  const hang: Hang = index % 2 === 1 && step !== undefined ? { turn, step, at: 'tool' } : { turn, step: index % turn.steps.length, at: 'model' };
  return { conversation, before, hang, after, loop: loopAt(index) };
}

/** None where the conversation calls no tool. */
function planInTool(conversation: Recording, index: number): readonly Plan[] {
  const places = conversation.turns.flatMap((turn, at) => turn.steps.flatMap(({ toolCalls }, step) => (toolCalls.length > 0 ? [{ turn, at, step }] : [])));
  const place = places[index % Math.max(1, places.length)];
  if (place === undefined) return [];
  const { turn, at, step } = place;
  const after = [...conversation.turns.slice(at + 1), FAREWELL];
  return [{ conversation, before: conversation.turns.slice(0, at), hang: { turn, step, at: 'tool' }, after, loop: loopAt(index) }];
}

function loopAt(index: number): string {
  return LOOPS[Math.floor(index / 2) % LOOPS.length] ?? 'chat';
}

/** What is left of a killed turn, once the next has begun. */
function transcriptUntil({ turn, step, at }: Hang): readonly TranscriptMessage[] {
  const whole = transcriptOf({ ...turn, steps: turn.steps.slice(0, step) });
  if (at === 'model') return whole;
  const [asked, answered] = transcriptOf({ ...turn, steps: turn.steps.slice(step, step + 1) }).slice(1);
  if (asked === undefined || answered === undefined) throw new Error('no tool is called there');
  const unknown = answered.content.map(({ tool_use_id }) => ({
    type: 'tool_result',
    tool_use_id,
    outcome: 'unknown',
    is_error: true,
    content: [{ type: 'text', text: expect.stringContaining('may') }],
  }));
  return [...whole, asked, { role: 'user', content: unknown }];
}
