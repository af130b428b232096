/**
 * The torture: clients at work on the built server, which dies again and again at instants that nobody chose, and an
 * auditor after each death. What a seed settles is what each client does and how long the server lives; what that meets
 * is real time.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { JournalRecord } from '../support/brain-api.ts';
import { eventually } from '../support/eventually.ts';
import { Auditor } from './auditor.ts';
import { Clients, type ClientOptions } from './clients.ts';
import { faultsOfEffects } from './effects.ts';
import { faultsOfOperations } from './operations.ts';
import { Gate } from './gate.ts';
import { Ledger } from './ledger.ts';
import { SeededRandom } from './seeded-random.ts';
import { World, type Death } from './world.ts';

export interface TortureOptions extends ClientOptions {
  readonly kills: number;
  /** No new life begins after so many milliseconds. */
  readonly msMax: number;
  readonly lifeMsMax: number;
  readonly deaths: Readonly<Record<Death, number>>;
}

export const USUAL: Omit<TortureOptions, 'seed' | 'kills' | 'msMax'> = {
  clients: 10,
  sessions: 12,
  followersPerSession: 1,
  messagesPerSession: 14,
  idleTtlsMs: [null, 0, 1, 300],
  lifeMsMax: 1500,
  weights: { create: 3, submit: 34, send: 24, cancel: 8, resume: 8, end: 2, delete: 3, look: 8, drop: 4, repeat: 8 },
  deaths: { kill: 70, 'kill while stopping': 10, 'kill while starting': 8, 'kill while recovering': 12 },
};

export interface Tortured {
  readonly faults: readonly string[];
  readonly summary: string;
  readonly kills: number;
  readonly events: number;
  readonly turns: number;
  /** What environments and hosts were given. */
  readonly operations: number;
  /** The results and events of theirs that the server took. */
  readonly taken: number;
}

/** The last process, when no more deaths come. */
export interface LastLife {
  readonly world: World;
  /**
   * Lets the clients at it once more, for so many milliseconds and what they have begun by then. Resolves when all sessions
   * are at rest and their followers are gone, having seen all of it.
   */
  work(ms: number): Promise<void>;
}

/** Runs until so many deaths are over, or a fault is found. `atEnd` looks at the server while it still runs. */
export async function torture(options: TortureOptions, atEnd?: (life: LastLife) => Promise<void>): Promise<Tortured> {
  const startMs = performance.now();
  const random = new SeededRandom(options.seed, 'deaths');
  const world = await World.start(options.seed);
  const ledger = new Ledger();
  const gate = new Gate();
  const auditor = new Auditor(ledger);
  const clients = new Clients(options, ledger, gate, () => world.server.api);
  const audit = async (isLast: boolean): Promise<void> => {
    await auditor.audit(world.server.api, isLast);
    for (const fault of faultsOfEffects(ledger, world.model, world.tools, world.far)) ledger.fault(fault);
    for (const fault of faultsOfOperations(ledger, world.far, isLast)) ledger.fault(fault);
  };
  const lastLife: LastLife = {
    world,
    work: async (ms) => {
      const working = clients.run();
      await delay(ms);
      clients.stop();
      await working;
      await eventually(async () => {
        const { sessions } = await world.server.api.sessions('?limit=1000&status=running');
        return sessions.length === 0 ? true : undefined;
      }, 'all turns to be over');
      await audit(true);
      for (const session of ledger.sessions.values()) session.isRetired = true;
    },
  };
  let kills = 0;
  try {
    const working = clients.run();
    while (kills < options.kills && performance.now() - startMs < options.msMax && ledger.faults.length === 0) {
      gate.open();
      await delay(random.below(options.lifeMsMax));
      const death = random.weighted(options.deaths);
      ledger.count(death);
      gate.close();
      kills += 1;
      await world.die(death, random);
      await gate.empty();
      await world.server.start();
      await audit(false);
    }
    clients.stop();
    gate.open();
    await working;
    if (atEnd !== undefined && ledger.faults.length === 0) await atEnd(lastLife);
    await world.server.killAndStart();
    kills += 1;
    await audit(true);
    return told(options, { ledger, world, kills, seconds: (performance.now() - startMs) / 1000 });
  } finally {
    gate.open();
    clients.stop();
    for (const { followers } of ledger.sessions.values()) for (const follower of followers) await follower.stop();
    await world.dispose();
  }
}

interface Toll {
  readonly ledger: Ledger;
  readonly world: World;
  readonly kills: number;
  readonly seconds: number;
}

function told({ seed }: TortureOptions, { ledger, world, kills, seconds }: Toll): Tortured {
  const sessions = [...ledger.sessions.values()];
  const records = sessions.flatMap((session) => session.records);
  const of = (type: string): number => records.filter((record) => record.type === type).length;
  const events = sessions.flatMap(({ followers }) => followers.flatMap(({ seen }) => seen)).length;
  const connections = sessions.flatMap(({ followers }) => followers.map((follower) => follower.connections)).reduce((sum, count) => sum + count, 0);
  const unknown = records.filter(({ data }) => data['outcome'] === 'unknown').length;
  const counts = [...ledger.counts].map(([what, count]) => `${count} ${what}`).toSorted().join(', ');
  const turns = of('turn_started');
  const isFar = (record: JournalRecord | undefined): boolean => /^(air|desk)_/.test(String(record?.data['tool']));
  const ended = sessions.flatMap((session) => session.records.filter(({ type, data }) => type === 'tool_call_ended' && isFar(session.records[Number(data['started_sequence']) - 1])));
  const summary = [
    `seed ${seed}: ${kills} kills in ${Math.round(seconds)} s; ${sessions.length} sessions, ${turns} turns, ${records.length} records`,
    `${world.model.calls.all.length} model calls, ${world.tools.calls.all.length} tool calls, ${unknown} effects unknown, ${of('turn_failed')} turns failed`,
    farInWords(world, ended),
    `followers: ${events} events over ${connections} connections`,
    counts,
  ].join('\n  ');
  const { asked, results, events: farEvents } = world.far;
  return { faults: ledger.faults, summary, kills, events, turns, operations: asked.length, taken: results.length + farEvents.length };
}

function farInWords({ far }: World, ended: readonly JournalRecord[]): string {
  const twice = far.asked.length - new Set(far.asked).size;
  const counts = [...far.counts].map(([what, count]) => `${count} ${what}`).toSorted().join(', ');
  const outcomes = ended.map(({ data }) => String(data['outcome']));
  const ends = [...new Set(outcomes)].toSorted().map((outcome) => `${outcomes.filter((one) => one === outcome).length} ${outcome}`).join(', ');
  return [
    `environments and hosts: ${far.asked.length} operations, ${twice} of them given twice; ${ended.length} of their calls on record: ${ends}`,
    `they were told that ${far.results.length} results and ${far.events.length} events were taken; ${counts}`,
  ].join('\n  ');
}
