/** What lies on the disk of a session's life: its journal, which only grows, and nothing that is meant to be gone. */
import { describe, expect, it } from 'vitest';
import { LiveReader } from '../../support/live-reader.ts';
import { DATA, TENANT } from '../../support/living-brain.ts';
import { saying, ScriptedModel } from '../../support/scripted-model.ts';
import { ScriptedTools } from '../../support/scripted-tools.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import type { SimulatedDisk } from '../../support/simulated-disk.ts';
import type { Turn } from '../../support/test-loops.ts';
import { call, RETURNED, TurnStage } from '../../support/turn-stage.ts';

const MIB = 1024 * 1024;

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;

const asking: Turn = async (input, host) => {
  await host.kv.put('last', input.message_sequence);
  await host.setTranscript([...input.transcript, input.message]);
  await host.model({ messages: [...input.transcript, input.message] });
  await host.dispatch([call('look'), call('act')]);
  return RETURNED;
};

const failing: Turn = async (_input, host) => {
  await host.kv.put('of a failed turn', true);
  throw new Error('no');
};

function filesUnder(disk: SimulatedDisk, folder: string): ReadonlyMap<string, Buffer> {
  return new Map(disk.files(folder).map((file) => [file, Buffer.from(disk.contents(file) ?? [])]));
}

/** How often a text stands on the disk, in what is not a cache. */
function timesOnDisk(disk: SimulatedDisk, text: string): number {
  const files = [...filesUnder(disk, DATA)].filter(([file]) => !file.endsWith('/checkpoint'));
  return files.reduce((count, [, bytes]) => count + bytes.toString('utf8').split(text).length - 1, 0);
}

describe('the disk', () => {
  it('S-008: keeps what was committed to a journal where it is, byte for byte, whatever is done, killed and recovered', async () => {
    const stage = await TurnStage.set(asking, { session: { after_stop: 'hold' } });
    const id = stage.sessionId;
    let { brain } = stage;
    let before = filesUnder(brain.disk, `${DATA}/sessions/${id}/journal`);
    const grown = async (step: () => Promise<unknown>): Promise<void> => {
      await step();
      await quiescence();
      const now = filesUnder(brain.disk, `${DATA}/sessions/${id}/journal`);
      for (const [file, bytes] of before) expect(now.get(file)?.subarray(0, bytes.length).equals(bytes), file).toBe(true);
      const total = (files: ReadonlyMap<string, Buffer>): number => [...files.values()].reduce((sum, { length }) => sum + length, 0);
      expect(total(now)).toBeGreaterThan(total(before));
      before = now;
    };
    const large: Turn = async (_input, host) => {
      await host.kv.put('large', 'x'.repeat(3 * MIB));
      await host.setTranscript([user('a summary')]);
      return RETURNED;
    };

    await grown(() => stage.send());
    await grown(() => brain.sessions.changeMetadata(TENANT, id, { team: 'red' }));
    stage.play(failing);
    await grown(() => stage.send());
    await grown(() => brain.sessions.resume(TENANT, id));
    stage.play(large);
    await grown(() => stage.send());
    await grown(() => stage.send());
    await grown(async () => {
      brain.model.script = () => 'deaf';
      stage.play(asking);
      await brain.sessions.submit(TENANT, id, 'killed');
      await quiescence();
      brain = await brain.restart();
      await brain.sessions.get(TENANT, id);
    });
    await grown(() => brain.sessions.end(TENANT, id));
    expect(before.size).toBeGreaterThan(1);
  });

  it('S-023, S-024: holds a change of the transcript or of a key value once, as its record', async () => {
    const stage = await TurnStage.set(async (input, host) => {
      await host.setTranscript([...input.transcript, user('what the loop alone said')]);
      await host.kv.put('key', 'what the loop alone knows');
      return RETURNED;
    });
    await stage.send();
    stage.play(async (input, host) => {
      await host.setTranscript([...input.transcript, user('more')]);
      await host.model({ messages: [...input.transcript, user('more')] });
      return RETURNED;
    });
    await stage.send();
    const next = await stage.brain.restart();
    await next.sessions.send(TENANT, stage.sessionId, 'once more');
    await next.sessions.end(TENANT, stage.sessionId);
    await next.brain.close();

    expect(timesOnDisk(next.disk, 'what the loop alone said')).toBe(1);
    expect(timesOnDisk(next.disk, 'what the loop alone knows')).toBe(1);
  });

  it('S-167: never holds what was shown live only', async () => {
    const stage = await TurnStage.set(
      async (input, host) => {
        host.telemetry({ step: 'shown live only' });
        const answer = await host.model({ messages: [input.message] });
        await host.dispatch([call('look')]);
        await host.setTranscript(answer.outcome === 'ended' ? [answer.message] : [input.message]);
        return RETURNED;
      },
      {
        model: new ScriptedModel((asked, index) => {
          asked.say({ text: 'shown live only' });
          return index === 0 ? saying('the answer') : { outcome: 'unknown', code: 'lost', message: 'the connection was lost' };
        }),
        tools: new ScriptedTools(['look', 'act'], ({ context }) => (context.progress({ message: 'shown live only' }), 'done')),
      },
    );
    const reader = await LiveReader.of(stage.brain.sessions, stage.sessionId);
    await quiescence();
    await stage.send();
    await stage.send('again');
    await quiescence();
    await stage.brain.brain.close();

    expect(reader.live.map(({ type }) => type)).toEqual(['telemetry', 'model_delta', 'tool_progress', 'telemetry', 'model_delta', 'tool_progress']);
    const kept = [...filesUnder(stage.brain.disk, DATA).values()].map((bytes) => bytes.toString('utf8'));
    expect(kept.filter((text) => text.includes('the answer'))).not.toEqual([]);
    expect(kept.filter((text) => text.includes('shown live only'))).toEqual([]);
  });
});
