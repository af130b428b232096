/** One process of the simulated world: Brain as the server composes it, on ports that die with it. */
import { createBrain, type Brain } from '../../services/brain.ts';
import { Callbacks } from '../../services/environments/callbacks.ts';
import type { EnvironmentTransport } from '../../services/environments/environment-transport.ts';
import { Hosts } from '../../services/environments/hosts.ts';
import { httpDriver } from '../../services/environments/http-driver.ts';
import type { Issuer } from '../../services/issuers.ts';
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
import { TenantHostFiles } from '../../storage/host-files.ts';
import { vaultKeyFile } from '../../storage/vault-key-file.ts';
import type { SimulatedProcess } from '../support/simulated-disk.ts';
import { DATA } from './auditor/durable-sessions.ts';
import { QUEUE_MESSAGES_MAX, RUNNING_TURNS_MAX } from './bounds.ts';
import type { EffectsPort } from './effects-port.ts';
import { testLoop, type LoopWatcher } from './test-loop.ts';

const VAULT_KEY = new Uint8Array(32);

/** What the addresses of callbacks start with. */
export const PUBLIC_URL = 'http://brain.test';

const MINUTE_MS = 60_000;

/** What a server answers from. */
export interface SimulatedServer {
  readonly brain: Brain;
  readonly callbacks: Callbacks;
  readonly hosts: Hosts;
}

export interface ProcessParts {
  readonly disk: SimulatedProcess;
  readonly clock: Clock;
  readonly random: () => number;
  readonly watcher: LoopWatcher;
  readonly ports: ReturnType<EffectsPort['boot']>;
  readonly transport: EnvironmentTransport;
  /** Told of what the operator would read. */
  readonly log: (event: string, facts: LogFacts) => void;
}

export async function startServer({ disk, clock, random, watcher, ports, transport, log }: ProcessParts): Promise<SimulatedServer> {
  const line = (event: string, facts: LogFacts = {}): void => log(event, facts);
  const logger = { debug: line, info: line, warn: line, error: line };
  const store = await FileSessionStore.open({ disk, path: DATA, log: logger });
  const bytes = { bytes: (count: number) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256)) };
  const credentials = new TenantCredentialFiles(store.directory);
  const vault = await Vault.open({ key: VAULT_KEY, keyFile: vaultKeyFile(store.directory), random: bytes, hasSealed: () => credentials.hasAny() });
  const loops: LoopRegistry = {
    find: (name) => (name === 'test' ? { loop: testLoop(watcher), configurationProblem: () => null } : loopRegistry.find(name)),
  };
  const secrets = new Secrets([]);
  const callbacks = new Callbacks({ vault, secrets, publicUrl: () => PUBLIC_URL });
  // Each tenant registers its hosts with a token of its own, which is named like it.
  const issuerOf = (tenant: string): Promise<Issuer> => Promise.resolve({ tenant, scope: 'manage', sessionId: null, ended: null, fingerprint: '' });
  const hosts = new Hosts({ vault, issuers: { issuerOf }, clock, log: logger, secrets, files: new TenantHostFiles(store.directory) });
  const brain = await createBrain({
    ...ports,
    store,
    claims: new FileClaimStore(store.directory),
    credentials,
    environmentFiles: new TenantEnvironmentFiles(store.directory),
    drivers: { http: httpDriver({ transport, callbacks, clock, log: logger }), host: hosts },
    vault,
    secrets,
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
  return { brain, callbacks, hosts };
}
