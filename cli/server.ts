/**
 * A server in this process: what `brain start` runs, and what another program may run inside of itself. It reads nothing
 * of its process, and leaves signals, output and stray errors to whoever runs it.
 */
import path from 'node:path';
import { createHttpApp } from '../http/server.ts';
import { createBrain } from '../services/brain.ts';
import { Callbacks } from '../services/environments/callbacks.ts';
import { Hosts } from '../services/environments/hosts.ts';
import { httpDriver } from '../services/environments/http-driver.ts';
import { httpTransport } from '../services/environments/http-transport.ts';
import { knownIssuers } from '../services/issuers.ts';
import { loopRegistry } from '../services/loops/loop-registry.ts';
import { providerConnections } from '../services/models/provider-connections.ts';
import { serverModels } from '../services/models/server-models.ts';
import { secretFreeLog } from '../services/secret-free-log.ts';
import { Secrets } from '../services/secrets.ts';
import { systemClock, systemLog, systemRandom } from '../services/system.ts';
import { TokensFileError } from '../services/token-list.ts';
import { Tokens } from '../services/tokens.ts';
import { noTelemetry } from '../services/telemetry.ts';
import { openTelemetryFile, type TelemetryFile } from '../services/telemetry-file.ts';
import type { Log } from '../services/ports.ts';
import { demoTools } from '../services/tools/demo-tools.ts';
import { serverTools } from '../services/tools/server-tools.ts';
import { loadToolsFile } from '../services/tools/tools-file.ts';
import type { ToolRegistry } from '../services/tools/tool.ts';
import { Vault } from '../services/vault.ts';
import { TenantCredentialFiles } from '../storage/credential-files.ts';
import { TenantEnvironmentFiles } from '../storage/environment-files.ts';
import { FileClaimStore } from '../storage/file-claim-store.ts';
import { FileSessionStore } from '../storage/file-session-store.ts';
import { TenantHostFiles } from '../storage/host-files.ts';
import { NodeDisk } from '../storage/node-disk.ts';
import { tokensFile } from '../storage/tokens-file.ts';
import { vaultKeyFile } from '../storage/vault-key-file.ts';
import { builtPage } from './built-page.ts';
import { urlOf } from './first-steps.ts';
import { tokensPathOf, type Options } from './option-table.ts';
import { parseOptions } from './options.ts';
import { ownUrl } from './public-url.ts';
import { providerClients, readProviders, type Environment } from './providers.ts';

// How long answers that are under way may take when the sessions are closed already.
const CLOSE_MS = 5_000;

/** What keeps the server from starting, in one line for the operator. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

export interface RunningServer {
  /** Where it listens. */
  readonly url: string;
  readonly log: Log;
  readonly runningTurns: number;
  /** Takes nothing new, lets what runs run out, and gives everything up. */
  stop(): Promise<void>;
}

/** The options by the names of their variables, `BRAIN_DATA_DIR` for example. What is left out has its default. */
export async function startServer(settings: Environment = {}): Promise<RunningServer> {
  const parsed = parseOptions([], settings);
  if (!parsed.ok) throw new StartError(parsed.message);
  return runServer(parsed.options, settings, (log) => {
    for (const warning of parsed.warnings) log.warn('option', { warning });
  });
}

/** `begin` is given the log before anything is opened. Where it rejects nothing stays open. */
export async function runServer(options: Options, environment: Environment, begin: (log: Log) => void): Promise<RunningServer> {
  const opened: Opened = {};
  try {
    return await openServer(options, environment, begin, opened);
  } catch (error) {
    await giveUp(opened);
    throw error;
  }
}

/** What is open so far. */
interface Opened {
  tokens?: Tokens;
  files?: { close(): Promise<void> };
  transport?: { close(): Promise<void> };
  connections?: { close(): Promise<void> };
  telemetry?: TelemetryFile;
}

async function giveUp({ tokens, files, transport, connections, telemetry }: Opened): Promise<void> {
  tokens?.close();
  await files?.close();
  await transport?.close();
  await connections?.close();
  await telemetry?.close();
}

async function openServer(options: Options, environment: Environment, begin: (log: Log) => void, opened: Opened): Promise<RunningServer> {
  const providers = await readProviders(options, environment);
  const secrets = new Secrets([options.apiKey, options.vaultKey?.text, ...providers.map((provider) => provider.api_key)]);
  const log = secretFreeLog(systemLog(options.logLevel), secrets);
  begin(log);
  const connections = (opened.connections = providerConnections());
  const models = serverModels({ providers, clients: providerClients(connections.post) });
  const tools = await loadTools(options);
  const disk = new NodeDisk();
  const tokens = (opened.tokens = await openTokens(tokensPathOf(options), disk, log));
  const store = await FileSessionStore.open({ disk, path: options.dataDirectory, log });
  opened.files = store;
  if (options.telemetryFile !== undefined) opened.telemetry = await openTelemetry(options.telemetryFile, log);
  const credentials = new TenantCredentialFiles(store.directory);
  const vault = await Vault.open({
    key: options.vaultKey?.bytes ?? null,
    keyFile: vaultKeyFile(store.directory),
    random: systemRandom,
    hasSealed: () => credentials.hasAny(),
  });
  // Nothing is sent to an environment before the server listens.
  let ownAddress = '';
  const callbacks = new Callbacks({ vault, secrets, publicUrl: () => options.publicUrl ?? ownAddress });
  const transport = (opened.transport = httpTransport());
  const issuers = knownIssuers({ apiKey: options.apiKey, tokens });
  const hosts = new Hosts({ vault, issuers, clock: systemClock, log, secrets, files: new TenantHostFiles(store.directory) });
  const brain = await createBrain({
    store,
    claims: new FileClaimStore(store.directory),
    credentials,
    environmentFiles: new TenantEnvironmentFiles(store.directory),
    vault,
    secrets,
    clock: systemClock,
    random: systemRandom,
    log,
    models,
    tools,
    drivers: { http: httpDriver({ transport, callbacks, clock: systemClock, log }), host: hosts },
    loops: loopRegistry,
    limits: {
      modelCalls: options.modelCallsMax,
      turnMs: options.turnMsMax,
      toolMs: options.toolMsMax,
      emittedBytes: options.emittedBytesMax,
      cancelMs: options.cancelMs,
    },
    runningTurnsMax: options.runningTurnsMax,
    rules: { queueMessagesMax: options.queueMessagesMax },
    telemetry: opened.telemetry ?? noTelemetry,
    retain: options.retain,
  });
  // It gives up the store with its sessions.
  opened.files = brain;
  const app = createHttpApp({
    sessions: brain.sessions,
    credentials: brain.credentials,
    environments: brain.environments,
    callbacks,
    hosts,
    tokens,
    page: builtPage(disk, path.resolve(import.meta.dirname, '../inspector')),
    clock: systemClock,
    log,
    options: { apiKey: options.apiKey, bodyBytesMax: options.bodyBytesMax, corsOrigins: options.corsOrigins },
    isDraining: () => brain.isDraining,
  });
  const at = await app.listen(options.listen).catch((error: unknown) => {
    throw listenFailure(options, error);
  });
  ownAddress = ownUrl(at);
  return {
    url: urlOf(at),
    log,
    get runningTurns() {
      return brain.runningTurns;
    },
    // Reads and callbacks go on while turns run out; then streams end, connections close, and the files are given up.
    async stop() {
      await brain.drain(options.drainMs);
      hosts.close();
      await app.close({ withinMs: CLOSE_MS });
      await giveUp(opened);
    },
  };
}

async function openTokens(path: string, disk: NodeDisk, log: Log): Promise<Tokens> {
  try {
    return await Tokens.open({ file: tokensFile(disk, path), clock: systemClock, log });
  } catch (error) {
    throw error instanceof TokensFileError ? new StartError(`${error.message} (${path})`) : error;
  }
}

async function openTelemetry(path: string, log: Log): Promise<TelemetryFile> {
  try {
    return await openTelemetryFile(path, log);
  } catch (error) {
    throw new StartError(`the telemetry file ${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function loadTools({ toolsFile }: Options): Promise<ToolRegistry> {
  const demo = demoTools(systemClock);
  if (toolsFile === undefined) return serverTools({ demo, file: [] });
  const reservedNames = demo.map(({ name }) => name);
  const file = await loadToolsFile({ path: toolsFile, reservedNames }, (url) => import(url) as Promise<unknown>);
  return serverTools({ demo, file });
}

function listenFailure({ listen }: Options, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const where = `${listen.host}:${listen.port}`;
  if (code === 'EADDRINUSE') return new StartError(`${where} is in use by another process; choose another address with --listen HOST:PORT`);
  if (code === 'EACCES') return new StartError(`this process may not listen on ${where}; choose a port above 1023 with --listen HOST:PORT`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return new StartError(`${where} is no address of this machine; choose another with --listen HOST:PORT`);
  return error;
}
