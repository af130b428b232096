import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../machines/messages.ts';
import type { Clock } from '../../../../services/ports.ts';
import { demoTools } from '../../../../services/tools/demo-tools.ts';
import type { Tool, ToolContext } from '../../../../services/tools/tool.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('current_time', () => {
  it('tells the time of the clock, in UTC', async () => {
    const clock = new ManualClock();

    expect(await run(clock, 'current_time', {})).toBe('2026-01-01T12:00:00Z');
  });
});

describe('add', () => {
  it.each<[number[], number]>([
    [[], 0],
    [[2, 3], 5],
    [[0.1, 0.2], 0.3],
    [[1, -2.5, 4], 2.5],
  ])('adds %j up to %d', async (numbers, sum) => {
    expect(await run(new ManualClock(), 'add', { numbers })).toBe(sum);
  });

  it.each<JsonValue>([null, {}, { numbers: ['2'] }, { numbers: 2 }, [1, 2]])('says what it wants where it gets %j', async (input) => {
    await expect(run(new ManualClock(), 'add', input)).rejects.toThrow('numbers must be a list of numbers');
  });
});

describe('wait', () => {
  it('ends when its time is over and no sooner', async () => {
    const clock = new ManualClock();
    let output: unknown = 'waiting';
    const waited = run(clock, 'wait', { seconds: 2 }).then((value) => (output = value));

    clock.advance(1999);
    await Promise.resolve();
    expect(output).toBe('waiting');
    clock.advance(1);
    expect(await waited).toBe('waited 2 seconds');
  });

  it('S-118: stops as soon as its signal says so and leaves no timer behind', async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const waited = run(clock, 'wait', { seconds: 60 }, stop.signal);
    expect(clock.timerCount).toBe(1);

    stop.abort();

    await expect(waited).rejects.toThrow('stopped');
    expect(clock.timerCount).toBe(0);
  });

  it('does not begin where its signal says so before', async () => {
    const clock = new ManualClock();

    await expect(run(clock, 'wait', { seconds: 60 }, AbortSignal.abort())).rejects.toThrow('stopped');
    expect(clock.timerCount).toBe(0);
  });

  it.each<JsonValue>([{}, { seconds: -1 }, { seconds: '1' }, { seconds: 1e9 }])('says what it wants where it gets %j', async (input) => {
    await expect(run(new ManualClock(), 'wait', input)).rejects.toThrow('seconds must be a number from 0');
  });
});

async function run(clock: Clock, name: string, input: JsonValue, signal = new AbortController().signal): Promise<JsonValue | undefined> {
  const tool = demoTools(clock).find((one): one is Tool => one.name === name);
  const context: ToolContext = { signal, session_id: '0'.repeat(32), sequence: 1, emit: async () => undefined, progress: () => undefined };
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return await tool.run(input, context);
}
