/** One process of the simulated world: Brain as the server composes it, on ports that die with it. */
import { createBrain, type Brain } from '../../services/brain.ts';
import type { EnvironmentDriver, EnvironmentDrivers } from '../../services/environments/operation.ts';
import type { LoopRegistry } from '../../services/loops/loop-registry.ts';
import { loopRegistry } from '../../services/loops/loop-registry.ts';
import type { Clock, LogFacts } from '../../services/ports.ts';
import { Secrets } from '../../services/secrets.ts';
import { noTelemetry } from '../../services/telemetry.ts';
import { Vault } from '../../services/vault.ts';
import { TenantCredentialFiles } from '../../storage/credential-files.ts';
import { TenantEnvironmentFiles } from '../../storage/environment-files.ts';
import { FileClaimStore } from '../../storage/file-claim-store.ts';
import { FileSessionStore } from '../../storage/file-session-store.ts';
import { vaultKeyFile } from '../../storage/vault-key-file.ts';
import type { SimulatedProcess } from '../support/simulated-disk.ts';
import { DATA } from './auditor/durable-sessions.ts';
import { QUEUE_MESSAGES_MAX, RUNNING_TURNS_MAX } from './bounds.ts';
import type { EffectsPort } from './effects-port.ts';
import { testLoop, type LoopWatcher } from './test-loop.ts';

const VAULT_KEY = new Uint8Array(32);

/** No session of the simulated world has an environment. */
const NO_ENVIRONMENT: EnvironmentDriver = {
  send: () => {
    throw new Error('nothing is sent to an environment here');
  },
};
const NO_ENVIRONMENTS: EnvironmentDrivers = { http: NO_ENVIRONMENT, host: NO_ENVIRONMENT };

const MINUTE_MS = 60_000;

export interface ProcessParts {
  readonly disk: SimulatedProcess;
  readonly clock: Clock;
  readonly random: () => number;
  readonly watcher: LoopWatcher;
  readonly ports: ReturnType<EffectsPort['boot']>;
  /** Told of what the operator would read. */
  readonly log: (event: string, facts: LogFacts) => void;
}

export async function startBrain({ disk, clock, random, watcher, ports, log }: ProcessParts): Promise<Brain> {
  const line = (event: string, facts: LogFacts = {}): void => log(event, facts);
  const logger = { debug: line, info: line, warn: line, error: line };
  const store = await FileSessionStore.open({ disk, path: DATA, log: logger });
  const bytes = { bytes: (count: number) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256)) };
  const credentials = new TenantCredentialFiles(store.directory);
  const vault = await Vault.open({ key: VAULT_KEY, keyFile: vaultKeyFile(store.directory), random: bytes, hasSealed: () => credentials.hasAny() });
  const loops: LoopRegistry = {
    find: (name) => (name === 'test' ? { loop: testLoop(watcher), configurationProblem: () => null } : loopRegistry.find(name)),
  };
  return createBrain({
    ...ports,
    store,
    claims: new FileClaimStore(store.directory),
    credentials,
    environmentFiles: new TenantEnvironmentFiles(store.directory),
    drivers: NO_ENVIRONMENTS,
    vault,
    secrets: new Secrets([]),
    clock,
    random: bytes,
    log: logger,
    loops,
    limits: { modelCalls: 6, turnMs: 30 * MINUTE_MS, toolMs: 10 * MINUTE_MS, emittedBytes: 1024, cancelMs: 10_000 },
    rules: { queueMessagesMax: QUEUE_MESSAGES_MAX },
    runningTurnsMax: RUNNING_TURNS_MAX,
    telemetry: noTelemetry,
    retain: null,
  });
}
