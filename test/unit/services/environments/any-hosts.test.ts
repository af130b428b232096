/** Any order of what processes of one host, those who send to it, and the clock can do. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HostClient } from '../../../support/host-client.ts';
import { HostStage, type Sent } from '../../../support/host-stage.ts';
import { quiescence } from '../../../support/simulated-clock.ts';

type Step =
  | { readonly kind: 'register' | 'connect' | 'disconnect'; readonly process: number }
  | { readonly kind: 'send'; readonly type: 'invoke' | 'setup' }
  | { readonly kind: 'answer'; readonly process: number; readonly command: number }
  | { readonly kind: 'deadline' | 'withdraw'; readonly command: number }
  | { readonly kind: 'advance'; readonly ms: number }
  /** Not in between: the next step comes before anything was read. */
  | { readonly kind: 'hurry' };

const process = fc.nat({ max: 3 });
const command = fc.nat({ max: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('register' as const, 'connect' as const, 'disconnect' as const), process }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('send' as const), type: fc.constantFrom('invoke' as const, 'setup' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer' as const), process, command }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('deadline' as const, 'withdraw' as const), command }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1_000, 10_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('hurry' as const) }) },
);

interface Asked {
  readonly sent: Sent;
  isClosed: boolean;
  /** What was taken of the answers to it. */
  readonly taken: string[];
}

class World {
  readonly stage = new HostStage();
  readonly processes: readonly HostClient[] = [0, 1, 2, 3].map((index) => this.stage.client(`process-${index}`));
  readonly asked: Asked[] = [];
  readonly #connected = new Set<HostClient>();
  #answers = 0;

  async take(steps: readonly Step[]): Promise<void> {
    let isHurried = false;
    for (const one of steps) {
      await this.#take(one);
      if (one.kind === 'hurry') isHurried = true;
      else if (isHurried) isHurried = false;
      else await this.settled();
    }
    await this.settled();
  }

  /** Whatever can be read is read: nothing that is open is kept from a process that is connected. */
  async settled(): Promise<void> {
    await quiescence();
    expect(this.#connected.size).toBeLessThanOrEqual(1);
    for (const { sent, isClosed } of this.asked) {
      const readers = this.processes.filter((client) => keysOf(client).includes(sent.name.sequence));
      expect(readers.length, 'no command in two processes').toBeLessThanOrEqual(1);
      const [connected] = this.#connected;
      if (connected !== undefined && !isClosed && sent.receipt === null) expect(readers, 'none is kept from who is connected').toEqual([connected]);
    }
  }

  async #take(one: Step): Promise<void> {
    switch (one.kind) {
      case 'register':
        await this.#client(one.process).register().catch(() => undefined);
        return;
      case 'connect':
        return this.#connect(this.#client(one.process));
      case 'disconnect':
        return this.#client(one.process).disconnect();
      case 'send':
        this.asked.push({ sent: this.stage.send(one.type), isClosed: false, taken: [] });
        return;
      case 'answer':
        return this.#answer(this.#client(one.process), this.asked[one.command]);
      case 'deadline':
      case 'withdraw':
        this.#close(this.asked[one.command], one.kind === 'deadline' ? 99 : null);
        return;
      case 'advance':
        return this.stage.clock.advance(one.ms);
      case 'hurry':
        return;
    }
  }

  #client(index: number): HostClient {
    const client = this.processes[index];
    if (client === undefined) throw new Error('there are four');
    return client;
  }

  async #connect(client: HostClient): Promise<void> {
    if (client.token === '' || (await client.connect()) !== null) return;
    this.#connected.add(client);
    const stream = client.streamEnded;
    void stream.then(() => {
      if (client.streamEnded === stream) this.#connected.delete(client);
    });
  }

  async #answer(client: HostClient, asked: Asked | undefined): Promise<void> {
    if (asked === undefined || client.token === '') return;
    const { sent, isClosed, taken } = asked;
    this.#answers += 1;
    const output = `answer ${this.#answers}`;
    const wasOver = isClosed || sent.receipt !== null;
    const refusal = await client.answer(sent.name, { type: 'result', output });
    if (refusal !== null) return;
    expect([wasOver, keysOf(client).includes(sent.name.sequence) || sent.operation.mayHaveArrived()], 'only who has it, and while it is open').toEqual([false, true]);
    taken.push(output);
  }

  #close(asked: Asked | undefined, cancelAs: number | null): void {
    if (asked === undefined || asked.isClosed) return;
    asked.isClosed = true;
    void asked.sent.operation.close(cancelAs);
  }
}

/** The commands that a process was ever told. */
function keysOf(client: HostClient): readonly number[] {
  return client.commands.all.map(({ sequence }) => sequence);
}

describe('any order of things', () => {
  it('writes no command to two processes, takes one answer at most, and loses nothing', async () => {
    let told = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const world = new World();
        await world.take(steps);

        const last = world.stage.client('last');
        await last.start();
        await quiescence();
        for (const { sent, isClosed, taken } of world.asked) {
          const readers = [...world.processes, last].filter((client) => keysOf(client).includes(sent.name.sequence));
          told += readers.length;
          expect(readers.length).toBeLessThanOrEqual(1);
          expect(taken.length).toBeLessThanOrEqual(1);
          if (taken.length === 1) expect(sent.receipt).toEqual({ type: 'result', output: taken[0] });
          else if (isClosed) expect(sent.receipt === null || sent.receipt.type !== 'result').toBe(true);
          else if (sent.receipt === null) expect(readers).toEqual([last]);
          else expect(sent.receipt.type).toBe(sent.operation.mayHaveArrived() ? 'unknown' : 'failure');
        }
      }),
      { numRuns: 200 },
    );
    expect(told).toBeGreaterThan(200);
  });
});
