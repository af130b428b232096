/** Brain as the server composes it, on a simulated disk and clock, with a scripted model, tools and loops. */
import type { Retain, SessionRecord } from '../../machines/records.ts';
import { createBrain, type Brain } from '../../services/brain.ts';
import type { LogFacts } from '../../services/ports.ts';
import { decodeRecords } from '../../services/record-codec.ts';
import type { CreateSession, SessionService, SessionView } from '../../services/session-service.ts';
import { Secrets } from '../../services/secrets.ts';
import type { TurnLimits } from '../../services/turn-scope.ts';
import { Vault } from '../../services/vault.ts';
import { TenantCredentialFiles } from '../../storage/credential-files.ts';
import { TenantEnvironmentFiles } from '../../storage/environment-files.ts';
import { FileClaimStore } from '../../storage/file-claim-store.ts';
import { FileSessionStore } from '../../storage/file-session-store.ts';
import { vaultKeyFile } from '../../storage/vault-key-file.ts';
import { HandleCount } from './handle-count.ts';
import { ScriptedEnvironments } from './scripted-environments.ts';
import { ScriptedModel } from './scripted-model.ts';
import { ScriptedTools } from './scripted-tools.ts';
import type { TelemetryLine } from '../../services/telemetry.ts';
import { quiescence, SimulatedClock } from './simulated-clock.ts';
import { SimulatedDisk, type SimulatedProcess } from './simulated-disk.ts';
import { TestLoops } from './test-loops.ts';

export const TENANT = 'local';
export const DATA = '/data';
const VAULT_KEY = new Uint8Array(32);

const LIMITS: TurnLimits = { modelCalls: 128, turnMs: 1_800_000, toolMs: 600_000, emittedBytes: 1024 * 1024, cancelMs: 10_000 };

export interface LivingBrainOptions {
  readonly disk?: SimulatedDisk;
  readonly clock?: SimulatedClock;
  readonly model?: ScriptedModel;
  readonly tools?: ScriptedTools;
  readonly environments?: ScriptedEnvironments;
  readonly loops?: TestLoops;
  readonly limits?: Partial<TurnLimits>;
  readonly runningTurnsMax?: number;
  readonly retain?: Retain;
  readonly serverSecrets?: readonly string[];
}

export interface LogLine {
  readonly event: string;
  readonly facts: LogFacts;
}

export class LivingBrain {
  readonly disk: SimulatedDisk;
  readonly clock: SimulatedClock;
  readonly model: ScriptedModel;
  readonly tools: ScriptedTools;
  readonly environments: ScriptedEnvironments;
  readonly loops: TestLoops;
  readonly handles: HandleCount;
  readonly log: readonly LogLine[];
  /** What the sink was given. */
  readonly telemetry: readonly TelemetryLine[];
  readonly brain: Brain;
  readonly #process: SimulatedProcess;
  readonly #options: LivingBrainOptions;

  private constructor(
    options: Required<Omit<LivingBrainOptions, 'limits' | 'runningTurnsMax' | 'retain' | 'serverSecrets'>> & LivingBrainOptions,
    started: Pick<LivingBrain, 'brain' | 'handles' | 'log' | 'telemetry'> & { readonly process: SimulatedProcess },
  ) {
    this.#options = options;
    this.disk = options.disk;
    this.clock = options.clock;
    this.model = options.model;
    this.tools = options.tools;
    this.environments = options.environments;
    this.loops = options.loops;
    this.brain = started.brain;
    this.#process = started.process;
    this.handles = started.handles;
    this.log = started.log;
    this.telemetry = started.telemetry;
  }

  static async start(options: LivingBrainOptions = {}): Promise<LivingBrain> {
    const {
      disk = new SimulatedDisk(),
      clock = new SimulatedClock(),
      model = new ScriptedModel(),
      tools = new ScriptedTools(['look', 'act']),
      environments = new ScriptedEnvironments(),
      loops = new TestLoops(),
    } = options;
    const log: LogLine[] = [];
    const line = (event: string, facts: LogFacts = {}): void => void log.push({ event, facts });
    const logger = { debug: line, info: line, warn: line, error: line };
    const process = disk.boot();
    const handles = new HandleCount(process);
    const store = await FileSessionStore.open({ disk: handles, path: DATA, log: logger });
    let drawn = 0;
    const random = { bytes: (count: number) => Uint8Array.from({ length: count }, () => (drawn += 1) % 251) };
    const credentials = new TenantCredentialFiles(store.directory);
    const telemetry: TelemetryLine[] = [];
    const brain = await createBrain({
      store,
      claims: new FileClaimStore(store.directory),
      credentials,
      environmentFiles: new TenantEnvironmentFiles(store.directory),
      vault: await Vault.open({ key: VAULT_KEY, keyFile: vaultKeyFile(store.directory), random, hasSealed: () => credentials.hasAny() }),
      secrets: new Secrets(options.serverSecrets ?? []),
      clock,
      random,
      log: logger,
      models: model,
      tools,
      drivers: environments,
      loops,
      limits: { ...LIMITS, ...options.limits },
      runningTurnsMax: options.runningTurnsMax ?? 64,
      rules: { queueMessagesMax: 16 },
      telemetry: { write: (line) => void telemetry.push(line) },
      retain: options.retain ?? null,
    });
    return new LivingBrain({ ...options, disk, clock, model, tools, environments, loops }, { brain, process, handles, log, telemetry });
  }

  /** Resolves when the process that it runs in is dead. */
  get hasDied(): Promise<void> {
    return this.#process.died;
  }

  get sessions(): SessionService {
    return this.brain.sessions;
  }

  /** A session whose turns are the test's loop. */
  create(more: Partial<CreateSession> = {}): Promise<SessionView> {
    return this.sessions.create(TENANT, { surface: 'v1', agentloop: { name: 'test' }, ...more });
  }

  /** A session on the loop that the server has, with the scripted tools. */
  createChat(more: Partial<CreateSession> = {}): Promise<SessionView> {
    return this.create({ agentloop: { name: 'chat' }, tools: ['look', 'act'], ...more });
  }

  async journal(sessionId: string): Promise<readonly SessionRecord[]> {
    return (await this.sessions.journal(TENANT, sessionId, { after: 0, limit: 1_000_000 })).items;
  }

  async types(sessionId: string): Promise<readonly string[]> {
    return (await this.journal(sessionId)).map(({ type }) => type);
  }

  /** Resolves when the session's turn is over and nothing more happens. */
  async atRest(sessionId: string): Promise<SessionView> {
    await quiescence();
    return this.sessions.get(TENANT, sessionId);
  }

  /** The process dies, and another starts on the same disk, with the same world around it. */
  async restart(options: Partial<LivingBrainOptions> = {}): Promise<LivingBrain> {
    this.disk.kill(this.#process);
    await quiescence();
    const { disk, clock, model, tools, environments, loops } = this;
    return LivingBrain.start({ ...this.#options, disk, clock, model, tools, environments, loops, ...options });
  }

  /** What the device holds of a session when the power goes now. Every process ends. */
  async afterPowerCut(sessionId: string): Promise<readonly SessionRecord[]> {
    this.disk.plan = () => undefined;
    this.disk.cutPower(() => 0);
    const store = await FileSessionStore.open({ disk: this.disk.boot(), path: DATA, log: { warn: () => undefined } });
    const journal = await store.open(sessionId);
    const records: SessionRecord[] = [];
    for await (const { payload } of journal.read(0)) records.push(...decodeRecords(payload));
    await journal.release();
    return records;
  }
}
