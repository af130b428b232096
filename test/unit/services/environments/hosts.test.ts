import { beforeEach, describe, expect, it, vi } from 'vitest';
import { HOST_WAIT_MS } from '../../../../services/environments/host.ts';
import { lostRecord, type OperationRequest, type Receipt, type SentOperation } from '../../../../services/environments/operation.ts';
import { HostStage } from '../../../support/host-stage.ts';
import { quiescence } from '../../../support/simulated-clock.ts';

const DONE: Receipt = { type: 'result', output: 'flour' };
const RECORDS: readonly (readonly [(sent: SentOperation) => void, string | null])[] = [
  [(sent) => sent.recorded(), null],
  [() => undefined, 'already_closed'],
  [(sent) => sent.recorded(lostRecord(null)), 'journal_unavailable'],
];
const LIFECYCLE = ['setup', 'detach', 'teardown'] as const satisfies readonly OperationRequest['type'][];

let stage: HostStage;

beforeEach(() => {
  stage = new HostStage();
});

function sequencesOf(told: readonly { readonly type: string; readonly operation?: { readonly sequence: number }; readonly sequence?: number }[]): readonly string[] {
  return told.map((event) => `${event.type} ${event.operation?.sequence ?? event.sequence}`);
}

describe('a command', () => {
  it('waits for its host, goes to it as it is, and its first final receipt counts', async () => {
    const sent = stage.send('invoke');
    const host = stage.client();
    await host.start();
    await quiescence();
    expect(host.told.all).toEqual([{ type: 'command', contract: 'environment/v1', operation: sent.call.operation }]);
    expect([await host.answer(sent.name, DONE), await host.answer(sent.name, { ...DONE, output: 'bran' })]).toEqual([null, 'already_closed']);
    expect(sent.receipt).toEqual(DONE);
  });

  it('says how much is left until its deadline, in whole milliseconds, when it is told, and not when it was sent', async () => {
    stage.send('invoke');
    const start = stage.clock.monotonic();
    await stage.clock.advance(20_000);
    // That of the server's own clock is no whole number.
    const monotonic = vi.spyOn(stage.clock, 'monotonic').mockReturnValue(start + 20_000.25);
    const host = stage.client();
    await host.start();
    await quiescence();
    monotonic.mockReturnValue(start + 25_000.5);
    await host.disconnect();
    await host.connect();
    await quiescence();
    expect(host.told.all.map((event) => event.type === 'command' && event.operation.request)).toMatchObject([{ deadline_ms: 39_999 }, { deadline_ms: 34_999 }]);
  });

  it('that is open is told again to the same process alone, in the order of the commands', async () => {
    const [one, two, three] = [stage.send('invoke'), stage.send('setup'), stage.send('invoke')];
    const host = stage.client();
    await host.start();
    await quiescence();
    await host.answer(two.name, { type: 'accepted' });
    await host.disconnect();
    const four = stage.send('invoke');
    await host.connect();
    await quiescence();
    const before = [one, two, three].map(({ name }) => `command ${name.sequence}`);
    const again = [one, three, four].map(({ name }) => `command ${name.sequence}`);
    expect(sequencesOf(host.told.all)).toEqual([...before, ...again]);
    expect(two.receipt).toEqual({ type: 'accepted' });
  });

  it('that was written ends unknown at the moment when another process takes the name, and one that was not goes to that process', async () => {
    const host = stage.client('first');
    await host.start();
    const written = stage.send('invoke');
    await quiescence();
    await host.disconnect();
    const waiting = stage.send('invoke');
    const next = stage.client('second');
    await next.register();
    await quiescence();
    expect(written.receipt).toMatchObject({ type: 'unknown', message: 'another process took the name of the host mill while this was under way' });
    expect(waiting.receipt).toBeNull();
    await next.connect();
    await quiescence();
    expect(sequencesOf(next.told.all)).toEqual([`command ${waiting.name.sequence}`]);
    expect([await host.answer(written.name, DONE), await host.answer(waiting.name, DONE)]).toEqual(['already_closed', 'already_closed']);
    expect(waiting.receipt).toBeNull();
  });

  it('is answered only by the process that it was written to', async () => {
    const mine = stage.client();
    const other = stage.client('first', { name: 'forge' });
    const theirs = stage.client('first', { caller: { tenant: 'acme', tokenId: 'acme' } });
    stage.tokens.give('acme');
    const unwritten = stage.send('invoke');
    await mine.register();
    expect(await mine.answer(unwritten.name, DONE)).toBe('already_closed');
    await Promise.all([mine.start(), other.start(), theirs.start()]);
    await quiescence();
    for (const host of [other, theirs]) {
      expect(await host.answer(unwritten.name, DONE)).toBe('already_closed');
      expect(await host.post('emit', { ...unwritten.name, type: 'a.b', data: 1 })).toBe('already_closed');
      expect(await host.post('progress', { ...unwritten.name, fraction: 1 })).toBe('already_closed');
      expect(host.told.all).toEqual([]);
    }
    expect(unwritten.receipt).toBeNull();
    expect(await mine.answer(unwritten.name, DONE)).toBeNull();
  });

  it('has its result taken once that is on record, refused as late where another end stands, and unknown where the record failed', async () => {
    const host = stage.client();
    await host.start();
    for (const [record, told] of RECORDS) {
      const sent = stage.send('invoke', { isRecorded: false });
      await quiescence();
      let heard: string | null = 'nothing yet';
      void host.answer(sent.name, DONE).then((code) => {
        heard = code;
      });
      await quiescence();
      expect([sent.receipt, heard]).toEqual([DONE, 'nothing yet']);
      record(sent.operation);
      await sent.operation.close(null);
      await quiescence();
      expect(heard).toBe(told);
    }
  });

  it('to do a tool call is not answered by taking it on; everything else is', async () => {
    const host = stage.client();
    await host.start();
    const invoke = stage.send('invoke');
    const others = LIFECYCLE.map((type) => stage.send(type));
    await quiescence();
    expect(await host.answer(invoke.name, { type: 'accepted' })).toBe('invalid_request');
    expect(invoke.receipt).toBeNull();
    for (const { name } of others) expect(await host.answer(name, { type: 'accepted' })).toBeNull();
    expect(others.map(({ receipt }) => receipt)).toEqual(LIFECYCLE.map(() => ({ type: 'accepted' })));
  });
});

describe('S-099: a host of which no process is connected', () => {
  it.each(LIFECYCLE)('has %s fail after ten seconds, and not before', async (type) => {
    const sent = stage.send(type);
    await stage.clock.advance(HOST_WAIT_MS - 1);
    await quiescence();
    expect(sent.receipt).toBeNull();
    await stage.clock.advance(1);
    await quiescence();
    expect(sent.receipt).toEqual({
      type: 'failure',
      code: 'host_unavailable',
      message: 'no process of the host mill is connected: start the host, then try again',
      retryable: true,
    });
    expect(stage.clock.timerCount).toBe(0);
    const late = stage.client();
    await late.start();
    await quiescence();
    expect(late.told.all).toEqual([]);
  });

  it('has a tool call wait until its deadline', async () => {
    const sent = stage.send('invoke');
    await stage.clock.advance(10 * HOST_WAIT_MS);
    await quiescence();
    expect([sent.receipt, stage.clock.timerCount]).toEqual([null, 0]);
  });

  it('that comes in time gets what waits, and takes as long as it needs', async () => {
    const sent = stage.send('setup');
    await stage.clock.advance(HOST_WAIT_MS - 1);
    const host = stage.client();
    await host.start();
    await stage.clock.advance(10 * HOST_WAIT_MS);
    expect(sent.receipt).toBeNull();
    expect(await host.answer(sent.name, { type: 'accepted' })).toBeNull();
  });
});

describe('the deadline of a command', () => {
  const cells = [
    ['never written, no process connected', false, false, 'timeout', false],
    ['never written, a process connected', false, true, 'timeout', false],
    ['written, its process connected', true, true, 'timeout', true],
    ['written, its process gone', true, false, 'unknown', true],
  ] as const;

  it.each(cells)('%s', async (_cell, isWritten, isConnected, verdict, mayHaveArrived) => {
    const host = stage.client();
    await host.register();
    // Nobody takes from this stream before the end.
    const reading = new AbortController();
    const holder = await stage.hosts.holderOf(host.token);
    if (holder === null) throw new Error('the token counts');
    const stream = stage.hosts.commands(holder, reading.signal);
    const sent = stage.send('invoke');
    if (isWritten) await stream[Symbol.asyncIterator]().next();
    if (!isConnected) reading.abort();
    expect([sent.operation.atDeadline(), sent.operation.mayHaveArrived()]).toEqual([verdict, mayHaveArrived]);
    reading.abort();
    await sent.operation.close(null);
  });

  it('is a timeout where the process was away and is back by then', async () => {
    const host = stage.client();
    await host.start();
    const sent = stage.send('invoke');
    await quiescence();
    await host.disconnect();
    expect(sent.operation.atDeadline()).toBe('unknown');
    await host.connect();
    expect(sent.operation.atDeadline()).toBe('timeout');
  });
});

describe('the close of a command', () => {
  async function closing(sent: ReturnType<HostStage['send']>, cancelAs: number | null): Promise<{ isDone: boolean }> {
    const state = { isDone: false };
    void sent.operation.close(cancelAs).then(() => {
      state.isDone = true;
    });
    await quiescence();
    return state;
  }

  it('that was never written is heard of by nobody', async () => {
    const sent = stage.send('invoke');
    expect(await closing(sent, 99)).toEqual({ isDone: true });
    const host = stage.client();
    await host.start();
    await quiescence();
    expect(host.told.all).toEqual([]);
  });

  it('without a cancel tells nobody, and what comes later finds nothing', async () => {
    const host = stage.client();
    await host.start();
    const sent = stage.send('invoke');
    await quiescence();
    expect(await closing(sent, null)).toEqual({ isDone: true });
    expect([host.cancels.all, await host.answer(sent.name, DONE), sent.receipt]).toEqual([[], 'already_closed', null]);
  });

  it('with a cancel tells its process, and is done when that has said its last, which is not taken', async () => {
    const host = stage.client();
    await host.start();
    const sent = stage.send('invoke');
    await quiescence();
    const state = await closing(sent, 99);
    expect(host.cancels.all).toEqual([{ type: 'cancel', ...sent.name }]);
    expect(await host.answer(sent.name, { type: 'accepted' })).toBe('already_closed');
    await quiescence();
    expect(state.isDone).toBe(false);
    expect(await host.answer(sent.name, DONE)).toBe('already_closed');
    await quiescence();
    expect([state.isDone, sent.receipt]).toEqual([true, null]);
    await host.disconnect();
    await host.connect();
    await quiescence();
    expect(host.told.all).toHaveLength(2);
  });

  it('is done when its process is gone, which hears of it when it is back', async () => {
    const host = stage.client();
    await host.start();
    const [one, two] = [stage.send('invoke'), stage.send('invoke')];
    await quiescence();
    const first = await closing(one, 98);
    await host.disconnect();
    await quiescence();
    expect(first.isDone).toBe(true);
    expect(await closing(two, 99)).toEqual({ isDone: true });
    await host.connect();
    await quiescence();
    const cancelled = [one, two].map(({ name }) => `cancel ${name.sequence}`);
    expect(sequencesOf(host.told.all).slice(-2)).toEqual(cancelled);
  });

  it('is done when another process takes the name, which never hears of it', async () => {
    const host = stage.client('first');
    await host.start();
    const sent = stage.send('invoke');
    await quiescence();
    const state = await closing(sent, 99);
    const next = stage.client('second');
    await next.start();
    await quiescence();
    expect([state.isDone, next.told.all]).toEqual([true, []]);
  });

  it('after its receipt changes nothing', async () => {
    const host = stage.client('first', { script: () => DONE });
    await host.start();
    const sent = stage.send('invoke');
    await quiescence();
    expect([await closing(sent, 99), sent.receipt, host.cancels.all]).toEqual([{ isDone: true }, DONE, []]);
  });

  it('keeps no more than a thousand cancels for a process that answers none', async () => {
    const host = stage.client();
    await host.start();
    const all = Array.from({ length: 1_001 }, () => stage.send('invoke'));
    await quiescence();
    const states = await Promise.all(all.map((sent) => closing(sent, 1)));
    expect(states.map(({ isDone }) => isDone).indexOf(false)).toBe(1);
    await host.disconnect();
    await host.connect();
    await quiescence();
    expect(host.cancels.all).toHaveLength(2_000);
  });
});

describe('what a process says meanwhile', () => {
  it('goes to the listener of the operation while it is open', async () => {
    const heard: unknown[] = [];
    const listener = {
      emit: async (type: string, data: unknown) => void heard.push(['emit', type, data]),
      progress: (progress: unknown) => void heard.push(['progress', progress]),
    };
    const host = stage.client();
    await host.start();
    const sent = stage.send('invoke', { listener });
    await quiescence();
    expect(await host.post('emit', { ...sent.name, type: 'mill.ground', data: { bags: 2 } })).toBeNull();
    expect(await host.post('progress', { ...sent.name, message: 'half', fraction: 0.5 })).toBeNull();
    expect(heard).toEqual([['emit', 'mill.ground', { bags: 2 }], ['progress', { message: 'half', fraction: 0.5 }]]);
    await host.answer(sent.name, DONE);
    expect(await host.post('emit', { ...sent.name, type: 'mill.ground', data: 1 })).toBe('already_closed');
    expect(await host.post('progress', { ...sent.name, fraction: 1 })).toBe('already_closed');
    expect(heard).toHaveLength(2);
  });

  it('of an operation that has nothing to say is refused', async () => {
    const host = stage.client();
    await host.start();
    const sent = stage.send('setup');
    await quiescence();
    expect(await host.post('emit', { ...sent.name, type: 'a.b', data: 1 })).toBe('invalid_request');
  });
});

describe('the processes of a host', () => {
  it('take the name from each other, the newest has it, and the one before does not get it back', async () => {
    const [first, second] = [stage.client('first'), stage.client('second')];
    await first.start();
    await second.register();
    expect(await first.streamEnded).toBeNull();
    expect(await first.connect()).toBe('conflict');
    await expect(first.register()).rejects.toThrow('another process took the name of the host mill');
    expect(await second.connect()).toBeNull();
    expect(await first.connect()).toBe('conflict');
  });

  it('are known after a restart of the server: the newest has the name, and those that lost it do not get it back', async () => {
    const [first, second] = [stage.client('first'), stage.client('second')];
    await first.register();
    await second.register();
    stage.restart();
    const sent = stage.send('invoke');
    expect(await first.connect()).toBe('conflict');
    await expect(first.register()).rejects.toThrow('another process took the name of the host mill');
    await second.register();
    expect(await second.connect()).toBeNull();
    expect(await first.connect()).toBe('conflict');
    await quiescence();
    expect([sequencesOf(second.told.all), sent.receipt]).toEqual([[`command ${sent.name.sequence}`], null]);
  });

  it('are known by the tokens that they have where no registration is kept', async () => {
    const [first, second] = [stage.client('first'), stage.client('second')];
    await first.register();
    await second.register();
    stage.restart({ keepsFiles: false });
    expect(await first.connect()).toBeNull();
    const sent = stage.send('invoke');
    await quiescence();
    expect(await second.connect()).toBeNull();
    expect(await first.streamEnded).toBeNull();
    await quiescence();
    expect([sent.receipt?.type, await first.connect()]).toEqual(['unknown', 'conflict']);
  });

  it('are told that they have the name once that is durable, and leave it where it was if the disk fails', async () => {
    const [first, second] = [stage.client('first'), stage.client('second')];
    await first.start();
    stage.files.fails = true;
    await expect(second.register()).rejects.toMatchObject({ code: 'journal_unavailable' });
    stage.files.fails = false;
    const sent = stage.send('invoke');
    await quiescence();
    expect(sequencesOf(first.told.all)).toEqual([`command ${sent.name.sequence}`]);
    expect(await second.start()).toBeNull();
    stage.restart();
    expect(await first.connect()).toBe('conflict');
  });

  it('are told apart though the wall clock stands still or goes back', async () => {
    const [first, second, third] = [stage.client('first'), stage.client('second'), stage.client('third')];
    await first.register();
    await second.register();
    stage.clock.setWall(0);
    stage.restart();
    expect(await second.connect()).toBeNull();
    await third.register();
    expect([await third.connect(), await second.connect(), await first.connect()]).toEqual([null, 'conflict', 'conflict']);
  });

  it('have one stream each, of which the newest counts', async () => {
    const host = stage.client();
    await host.start();
    const sent = stage.send('invoke');
    await quiescence();
    const cancelled = stage.send('invoke');
    await quiescence();
    let hasStopped = false;
    void cancelled.operation.close(99).then(() => {
      hasStopped = true;
    });
    await quiescence();
    const older = host.streamEnded;
    expect(await host.connect()).toBeNull();
    await older;
    await quiescence();
    expect(hasStopped).toBe(false);
    const [kept, gone] = [`command ${sent.name.sequence}`, `cancel ${cancelled.name.sequence}`];
    expect(sequencesOf(host.told.all)).toEqual([kept, `command ${cancelled.name.sequence}`, gone, gone, kept]);
    expect(sent.operation.atDeadline()).toBe('timeout');
    expect(host.commands.all).toHaveLength(2);
  });

  it('may register again with the same name, and keep what they have', async () => {
    const host = stage.client();
    await host.start();
    const sent = stage.send('invoke');
    await quiescence();
    expect((await stage.hosts.register({ tenant: 'local', tokenId: 'nobody' }, { name: 'mill', incarnation: 'first' }))?.isNew).toBe(false);
    expect([sent.receipt, sent.operation.atDeadline()]).toEqual([null, 'timeout']);
  });

  it('of tenants that give the same name are not the same host', async () => {
    stage.tokens.give('acme');
    const mine = stage.client('first');
    const theirs = stage.client('second', { caller: { tenant: 'acme', tokenId: 'acme' } });
    await mine.start();
    await theirs.start();
    const [one, two] = [stage.send('invoke'), stage.send('invoke', { tenant: 'acme' })];
    await quiescence();
    expect([sequencesOf(mine.told.all), sequencesOf(theirs.told.all)]).toEqual([[`command ${one.name.sequence}`], [`command ${two.name.sequence}`]]);
  });

  it('that take nothing hold nothing but what is open', async () => {
    const host = stage.client();
    await host.register();
    const holder = await stage.hosts.holderOf(host.token);
    if (holder === null) throw new Error('the token counts');
    const stream = stage.hosts.commands(holder, new AbortController().signal);
    for (let count = 0; count < 1_000; count += 1) await stage.send('invoke').operation.close(1);
    const last = stage.send('invoke');
    const { value } = await stream[Symbol.asyncIterator]().next();
    expect(value).toMatchObject({ type: 'command', operation: { sequence: last.name.sequence } });
  });

  it('lose their streams when the server closes, and are refused from then on', async () => {
    const host = stage.client();
    await host.start();
    const sent = stage.send('invoke');
    await quiescence();
    stage.hosts.close();
    expect(await host.streamEnded).toBeNull();
    expect([sent.operation.atDeadline(), await host.connect()]).toEqual(['unknown', 'draining']);
  });
});
