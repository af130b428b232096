/**
 * The simulated world: one data directory, the processes that own it one after another, their clients, and the auditor.
 * Whatever a process waits for waits here, until a step lets it go on.
 */
import type { Brain } from '../../services/brain.ts';
import type { SimulatedProcess } from '../support/simulated-disk.ts';
import { Auditor } from './auditor/auditor.ts';
import { randomNumbers } from './choices.ts';
import { NO_HABIT, type Habit } from './client-steps.ts';
import { Clients } from './clients.ts';
import type { Coverage } from './coverage.ts';
import { DiskPort, type HeldCall } from './disk-port.ts';
import { EffectsPort } from './effects-port.ts';
import { EnvironmentsPort } from './environments-port.ts';
import { TENANTS, type Asked } from './request.ts';
import { startServer, type SimulatedServer } from './server-process.ts';
import { WorldClock } from './world-clock.ts';

// Opening every session of a run takes some hundred calls, one after another.
const SETTLE_ROUNDS_MAX = 600;

interface RunningProcess {
  readonly number: number;
  readonly disk: SimulatedProcess;
  /** Null while it starts. */
  server: SimulatedServer | null;
  /** What it could not start for, or that it has given everything up. */
  over: 'failed' | 'closed' | null;
}

export class World {
  readonly coverage: Coverage;
  readonly port = new DiskPort();
  readonly clock = new WorldClock();
  readonly auditor: Auditor;
  readonly effects: EffectsPort;
  readonly environments: EnvironmentsPort;
  readonly clients: Clients;
  readonly script: string[] = [];
  process: RunningProcess;
  /** What clients have made up so far. */
  sessionCount = 0;
  messageCount = 0;
  /** Of declarations, hosts and reports: each is told from the others by its number. */
  count = 0;
  /** What is asked of the server beside sessions, and not answered. */
  readonly asking = new Set<string>();
  /** What was asked with a key, for whoever asks again. */
  readonly keyed: Asked[] = [];
  habit: Habit = NO_HABIT;
  readonly bodies = new Map<string, string>();
  /** What the operator would read. */
  readonly log: string[] = [];
  readonly #random = randomNumbers(1);
  #processCount = 0;

  constructor(coverage: Coverage) {
    this.coverage = coverage;
    this.auditor = new Auditor(this.port, coverage);
    this.effects = new EffectsPort(this.auditor);
    this.environments = new EnvironmentsPort(this.auditor.environments);
    this.clients = new Clients(this.auditor);
    this.process = this.#boot();
  }

  /** Null while no process can be asked anything. */
  get brain(): Brain | null {
    return this.server?.brain ?? null;
  }

  get server(): SimulatedServer | null {
    return this.process.over === null ? this.process.server : null;
  }

  say(line: string): void {
    this.script.push(line);
  }

  /** Everything has happened that waits for nobody: one turn of the event loop, for all of it is promises. */
  async rest(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.process.over !== null) {
      this.die(this.process.over === 'closed' ? 'after a drain' : 'at a start that failed', () => this.port.kill(this.process.disk));
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.auditor.look();
    this.coverage.states.add(this.signature());
  }

  /**
   * Lets every call on the disk be answered, or every one that `mayGo`, until none is left or it `isEnough`. False where
   * nothing was answered.
   */
  async settle(mayGo: (held: HeldCall) => boolean = () => true, isEnough: () => boolean = () => false): Promise<boolean> {
    for (let round = 0; ; round += 1) {
      const going = this.port.ready.filter(mayGo);
      if (going.length === 0 || isEnough()) return round > 0;
      this.auditor.expect(round < SETTLE_ROUNDS_MAX, 13, () => `the disk is never at rest: ${going.map(({ call }) => `${call.kind} of ${call.path}`).join(', ')}`);
      for (const held of going) this.port.answer(held);
      await this.rest();
      if (this.auditor.violation !== null) return true;
    }
  }

  /** The process is gone in one instant, and the next one starts. */
  die(how: string, end: () => void): void {
    end();
    this.auditor.died(how);
    this.clients.lose();
    this.asking.clear();
    this.coverage.deathCount += 1;
    this.process = this.#boot();
  }

  labelOf(sessionId: string): string {
    const ledger = this.auditor.sessions.ledger(sessionId);
    return typeof ledger?.created['system'] === 'string' ? ledger.created['system'] : sessionId.slice(-4);
  }

  tenantOf(sessionId: string): string {
    return this.auditor.sessions.ledger(sessionId)?.tenant ?? TENANTS[0];
  }

  /** What tells this moment from others: where each session is, and what is waited for. */
  signature(): string {
    const { sessions } = this.auditor;
    const each = sessions.ids.map((id) => {
      const ledger = sessions.ledger(id);
      return `${String(ledger?.state)}${[...(ledger?.open.values() ?? [])].join('+')}`;
    });
    const disk = this.port.held.map(({ call, phase }) => `${call.kind}${phase === 'acted' ? '!' : ''}`);
    const asked = [...this.clients.pending.values()].map(({ route }) => route);
    const environments = [...this.environments.pending.map(({ operation }) => operation.request.type), ...this.environments.hosts.map(({ status }) => status), this.asking.size];
    const effects = this.effects.pending.map(({ kind }) => kind);
    return [each.sort(), disk, asked.sort(), effects, environments, [this.brain === null ? 'starting' : '']].map((part) => part.join(',')).join('|');
  }

  #boot(): RunningProcess {
    this.#processCount += 1;
    const disk = this.port.disk.boot();
    const process: RunningProcess = { number: this.#processCount, disk, server: null, over: null };
    const { isHealed } = this.auditor.excuses;
    const log = (event: string, facts: object): void => void this.log.push(`${process.number} ${event} ${JSON.stringify(facts)}`);
    startServer({ disk, clock: this.clock.boot(), random: this.#random, watcher: this.auditor, ports: this.effects.boot(), transport: this.environments.boot(), log }).then(
      (server) => {
        process.server = server;
      },
      (error: unknown) => {
        process.over = 'failed';
        this.auditor.expect(!isHealed, 11, () => `a process cannot start: ${String(error)}`);
      },
    );
    return process;
  }
}
