/** Turns that wait for a slot: who goes first, what stops them, and that every slot comes back. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { TurnAnswer } from '../../../services/session-service.ts';
import type { LoopHost, TurnInput, TurnResult } from '../../../services/loops/agent-loop.ts';
import { Arrivals } from '../../support/arrivals.ts';
import { plan } from '../../support/disk-faults.ts';
import { gate } from '../../support/gate.ts';
import { LivingBrain, TENANT, type LivingBrainOptions } from '../../support/living-brain.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { TestLoops } from '../../support/test-loops.ts';

const RETURNED: TurnResult = { kind: 'returned' };
const CANCEL_MS = 10_000;
const TURN_MS = 60_000;

interface RunningLoop {
  readonly input: TurnInput;
  readonly host: LoopHost;
  finish(): void;
  fail(error: Error): void;
}

/** A brain with few slots, whose loops run until the test finishes them, whatever they are told. */
class WaitingStage {
  readonly brain: LivingBrain;
  readonly loops: Arrivals<RunningLoop>;

  private constructor(brain: LivingBrain, loops: Arrivals<RunningLoop>) {
    this.brain = brain;
    this.loops = loops;
  }

  static async set(options: LivingBrainOptions = {}): Promise<WaitingStage> {
    const running = new Arrivals<RunningLoop>('loops');
    const loops = new TestLoops(
      (input, host) =>
        new Promise((resolve, reject) => {
          running.add({ input, host, finish: () => resolve(RETURNED), fail: reject });
        }),
    );
    return new WaitingStage(await LivingBrain.start({ runningTurnsMax: 1, ...options, loops }), running);
  }

  /** The sessions whose loops have started, in order. */
  get started(): readonly string[] {
    return this.loops.all.map(({ input }) => input.session_id);
  }

  async session(tenant = TENANT): Promise<string> {
    return (await this.brain.sessions.create(tenant, { surface: 'v1', agentloop: { name: 'test' } })).session_id;
  }

  /** A session with a turn that runs, or waits where no slot is free. */
  async turn(tenant = TENANT): Promise<{ readonly id: string; readonly answer: Promise<TurnAnswer> }> {
    const id = await this.session(tenant);
    const answer = this.brain.sessions.send(tenant, id, 'hello');
    await quiescence();
    return { id, answer };
  }

  /** The loop that was started last. */
  get last(): RunningLoop {
    const last = this.loops.all.at(-1);
    if (last === undefined) throw new Error('no loop has started');
    return last;
  }
}

describe('a turn that waits for a slot', () => {
  it('has started and is running for everybody, but its loop has not, and its wall time has not begun', async () => {
    const stage = await WaitingStage.set({ limits: { turnMs: TURN_MS } });
    const first = await stage.turn();
    const second = await stage.turn();

    await stage.brain.clock.advance(TURN_MS - 1);
    expect(stage.started).toEqual([first.id]);
    expect((await stage.brain.types(second.id)).at(-1)).toBe('turn_started');
    expect(await stage.brain.sessions.get(TENANT, second.id)).toMatchObject({ status: 'running' });

    stage.last.finish();
    expect(await first.answer).toMatchObject({ outcome: 'ended' });
    await quiescence();
    expect(stage.started).toEqual([first.id, second.id]);
    await stage.brain.clock.advance(TURN_MS - 1);
    expect(await stage.brain.types(second.id)).not.toContain('turn_cancel_requested');
    await stage.brain.clock.advance(1 + CANCEL_MS);
    expect(await second.answer).toMatchObject({ outcome: 'failed', error: { code: 'turn_timeout' } });
  });

  it('is cancelled at once, without a slot and without a run of its loop', async () => {
    const stage = await WaitingStage.set();
    const first = await stage.turn();
    const second = await stage.turn();
    const third = await stage.turn();

    await stage.brain.sessions.cancel(TENANT, second.id);

    expect(await second.answer).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' } });
    expect((await stage.brain.types(second.id)).slice(-3)).toEqual(['turn_started', 'turn_cancel_requested', 'turn_failed']);
    expect(stage.brain.clock.timerCount).toBe(1);
    expect(stage.started).toEqual([first.id]);
    stage.last.finish();
    await quiescence();
    expect(stage.started).toEqual([first.id, third.id]);
  });

  it('takes no slot any more once it is stopped, however long its closing commit takes', async () => {
    const stage = await WaitingStage.set();
    const first = await stage.turn();
    const second = await stage.turn();
    const third = await stage.turn();
    const closing = gate();
    plan(stage.brain.disk, { kinds: ['sync'], sessionId: second.id, times: 1 }, { start: closing.opened });
    // The flush of the cancel itself goes through.
    plan(stage.brain.disk, { kinds: ['sync'], sessionId: second.id, times: 1 }, {});
    await stage.brain.sessions.cancel(TENANT, second.id);
    await quiescence();

    stage.last.finish();
    await quiescence();
    expect(stage.started).toEqual([first.id, third.id]);
    closing.open();
    expect(await second.answer).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' } });
  });

  it('L-083: is interrupted at once, and what waits behind it fails', async () => {
    const stage = await WaitingStage.set();
    await stage.turn();
    const id = await stage.session();
    for (const text of ['one', 'two']) await stage.brain.sessions.queue(TENANT, id, { text });
    await quiescence();

    await stage.brain.sessions.cancel(TENANT, id);
    await quiescence();

    const types = await stage.brain.types(id);
    expect(types.slice(types.indexOf('turn_started'))).toEqual(['turn_started', 'message_queued', 'turn_cancel_requested', 'message_failed', 'turn_failed']);
    expect(stage.started).toHaveLength(1);
  });

  it('L-111: is closed at once', async () => {
    const stage = await WaitingStage.set();
    await stage.turn();
    const second = await stage.turn();

    await stage.brain.sessions.close(TENANT, second.id);

    expect(await second.answer).toMatchObject({ outcome: 'failed', error: { code: 'closed' }, status: 'ended' });
    expect(await stage.brain.types(second.id)).not.toContain('activation_started');
    expect(stage.started).toHaveLength(1);
  });

  it('runs before its session ends, where an end waits for it', async () => {
    const stage = await WaitingStage.set();
    await stage.turn();
    const second = await stage.turn();
    const ended = stage.brain.sessions.end(TENANT, second.id);
    await quiescence();
    expect(stage.started).toHaveLength(1);

    stage.last.finish();
    await quiescence();
    stage.last.finish();

    expect(await second.answer).toMatchObject({ outcome: 'ended' });
    expect(await ended).toMatchObject({ status: 'ended' });
  });

  it('S-138, S-139: is interrupted by a restart, and nothing says that its loop may have run', async () => {
    const stage = await WaitingStage.set();
    await stage.turn();
    const id = await stage.session();
    await stage.brain.sessions.submit(TENANT, id, 'hello');
    await quiescence();

    const next = await stage.brain.restart();

    expect(await next.sessions.get(TENANT, id)).toMatchObject({ status: 'idle' });
    expect((await next.types(id)).slice(-2)).toEqual(['turn_started', 'turn_failed']);
  });

  it('is discarded with its session, and its loop never runs', async () => {
    const stage = await WaitingStage.set();
    const first = await stage.turn();
    const second = await stage.turn();
    const third = await stage.turn();
    failNextFlush(stage, second.id);
    await expect(stage.brain.sessions.cancel(TENANT, second.id)).rejects.toMatchObject({ code: 'journal_unavailable' });

    expect(await second.answer).toMatchObject({ outcome: 'failed', error: { code: 'interrupted_by_restart' } });
    stage.last.finish();
    await quiescence();
    expect(stage.started).toEqual([first.id, third.id]);
  });

  it('holds little: no timer, no listener, and a few kilobytes', async () => {
    const stage = await WaitingStage.set({ limits: { turnMs: null } });
    await stage.turn();
    const count = 300;
    const ids = [];
    for (let made = 0; made < count; made += 1) ids.push(await stage.session());
    const before = heapBytes();
    for (const id of ids) await stage.brain.sessions.submit(TENANT, id, 'hello');
    await quiescence();

    expect((heapBytes() - before) / count).toBeLessThan(32 * 1024);
    expect(stage.brain.clock.timerCount).toBe(0);
    expect(stage.started).toHaveLength(1);
  });
});

describe('slots', () => {
  it('go to a tenant’s one turn before the 1,000 of another that wait already', async () => {
    const stage = await WaitingStage.set();
    for (let count = 0; count < 1_001; count += 1) await stage.brain.sessions.submit('many', await stage.session('many'), 'hello');
    const few = await stage.turn('few');

    stage.last.finish();
    await quiescence();

    expect(stage.started).toHaveLength(2);
    expect(stage.started.at(-1)).toBe(few.id);
  });

  it('go round: the next message of a session waits behind the turns that have waited longer', async () => {
    const stage = await WaitingStage.set();
    const first = await stage.turn();
    const second = await stage.turn();
    stage.last.finish();
    await first.answer;
    void stage.brain.sessions.send(TENANT, first.id, 'more');
    const third = await stage.turn();
    stage.last.finish();
    await quiescence();
    stage.last.finish();
    await quiescence();

    expect(stage.started).toEqual([first.id, second.id, first.id, third.id]);
  });

  it.each<readonly [string, (stage: WaitingStage, id: string, loop: RunningLoop) => Promise<void> | void]>([
    ['whose loop returns', (_stage, _id, loop) => loop.finish()],
    ['whose loop throws', (_stage, _id, loop) => loop.fail(new Error('no'))],
    [
      'that is cancelled, and whose loop does not care',
      async (stage, id) => {
        await stage.brain.sessions.cancel(TENANT, id);
        await stage.brain.clock.advance(CANCEL_MS);
      },
    ],
    [
      'whose loop returns when it was closed without it',
      async (stage, id, loop) => {
        await stage.brain.sessions.cancel(TENANT, id);
        await stage.brain.clock.advance(CANCEL_MS);
        loop.finish();
      },
    ],
    ['whose wall time is over', (stage) => stage.brain.clock.advance(TURN_MS + CANCEL_MS)],
    [
      'whose journal fails under its loop, which then returns',
      async (stage, id, loop) => {
        failNextFlush(stage, id);
        await loop.host.emit('acme.thing', 1).catch(() => undefined);
        loop.finish();
      },
    ],
    [
      'whose journal fails under its loop, which goes on for ever',
      async (stage, id, loop) => {
        failNextFlush(stage, id);
        await loop.host.emit('acme.thing', 1).catch(() => undefined);
        await stage.brain.clock.advance(CANCEL_MS);
      },
    ],
    [
      'whose closing commit fails',
      (stage, id, loop) => {
        failNextFlush(stage, id);
        loop.finish();
      },
    ],
  ])('come back, once, from a turn %s', async (_how, end) => {
    const stage = await WaitingStage.set({ limits: { turnMs: TURN_MS } });
    const first = await stage.turn();
    const waiting = [await stage.turn(), await stage.turn()];

    await end(stage, first.id, stage.last);
    await quiescence();

    expect(stage.started).toEqual([first.id, waiting[0]?.id]);
    stage.last.finish();
    await quiescence();
    expect(stage.started).toEqual([first.id, ...waiting.map(({ id }) => id)]);
  });
});

describe('a brain that is drained', () => {
  it('S-217, S-218: lets turns that wait for a slot run out, one after another', async () => {
    const stage = await WaitingStage.set();
    const turns = [await stage.turn(), await stage.turn(), await stage.turn()];
    let isDrained = false;
    const drained = stage.brain.brain.drain(null).then(() => (isDrained = true));
    for (const [index] of turns.entries()) {
      await stage.loops.at(index);
      expect(isDrained).toBe(false);
      stage.last.finish();
      await quiescence();
    }

    await drained;
    expect(stage.started).toEqual(turns.map(({ id }) => id));
    for (const { answer } of turns) expect(await answer).toMatchObject({ outcome: 'ended' });
  });

  it('S-222: cancels those that wait at its bound, at once, although the slot is held until the cleanup bound', async () => {
    const stage = await WaitingStage.set();
    const [first, second] = [await stage.turn(), await stage.turn()];
    const drained = stage.brain.brain.drain(5_000);

    await stage.brain.clock.advance(5_000);
    expect(await second.answer).toMatchObject({ outcome: 'failed', error: { code: 'shutdown' } });
    expect(await stage.brain.types(second.id)).not.toContain('activation_started');
    await stage.brain.clock.advance(CANCEL_MS);

    await drained;
    expect(await first.answer).toMatchObject({ outcome: 'failed', error: { code: 'shutdown' } });
    expect(stage.started).toEqual([first.id]);
  });

  it('gives up those that wait when it closes, and starts none of them', async () => {
    const stage = await WaitingStage.set();
    const ids = [await stage.session(), await stage.session(), await stage.session()];
    for (const id of ids) await stage.brain.sessions.submit(TENANT, id, 'hello');
    await quiescence();

    const closed = stage.brain.brain.close();
    await stage.brain.clock.advance(CANCEL_MS);
    await closed;

    expect(stage.started).toEqual(ids.slice(0, 1));
    expect(stage.brain.handles.openFiles).toEqual([]);
  });
});

function failNextFlush({ brain }: WaitingStage, sessionId: string): void {
  plan(brain.disk, { kinds: ['sync'], sessionId, times: 1 }, { fails: 'EIO' });
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
