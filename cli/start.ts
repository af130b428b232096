/**
 * `brain start`: options to a running server, and a signal to a clean end. The only reader of the process's environment.
 *
 * Standard output says where it listens and how to begin; the log is on standard error. The exit code is 0 after a
 * SIGTERM or SIGINT, and 1, with one line, where the server could not start.
 */
import path from 'node:path';
import { traceOf } from '../http/errors.ts';
import { createHttpApp } from '../http/server.ts';
import { createBrain } from '../services/brain.ts';
import { Callbacks } from '../services/environments/callbacks.ts';
import { Hosts } from '../services/environments/hosts.ts';
import { httpDriver } from '../services/environments/http-driver.ts';
import { httpTransport } from '../services/environments/http-transport.ts';
import { knownIssuers } from '../services/issuers.ts';
import { loopRegistry } from '../services/loops/loop-registry.ts';
import { providerConnections } from '../services/models/provider-fetch.ts';
import { ProvidersFileError } from '../services/models/providers-file.ts';
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
import { loadToolsFile, ToolsFileError } from '../services/tools/tools-file.ts';
import type { ToolRegistry } from '../services/tools/tool.ts';
import { Vault } from '../services/vault.ts';
import { TenantCredentialFiles } from '../storage/credential-files.ts';
import { TenantEnvironmentFiles } from '../storage/environment-files.ts';
import { FileClaimStore } from '../storage/file-claim-store.ts';
import { FileSessionStore } from '../storage/file-session-store.ts';
import { StorageError } from '../storage/journal.ts';
import { NodeDisk } from '../storage/node-disk.ts';
import { tokensFile } from '../storage/tokens-file.ts';
import { vaultKeyFile } from '../storage/vault-key-file.ts';
import { builtPage } from './built-page.ts';
import { firstSteps, urlOf } from './first-steps.ts';
import { tokensPathOf, type Options } from './option-table.ts';
import { parseOptions } from './options.ts';
import { ownUrl } from './public-url.ts';
import { providerClients, readProviders, type Environment } from './providers.ts';

// A terminal's Ctrl-C arrives twice, from the terminal and from npm: only one that comes later means it.
const SECOND_SIGNAL_MS = 1_000;
// How long answers that are under way may take when the sessions are closed already.
const CLOSE_MS = 5_000;

/** What keeps the server from starting, in one line for the operator. */
class StartError extends Error {
  override readonly name = 'StartError';
}

async function start(options: Options, environment: Environment): Promise<void> {
  const providers = await readProviders(options, environment);
  const secrets = new Secrets([options.apiKey, options.vaultKey?.text, ...providers.map((provider) => provider.api_key)]);
  const log = secretFreeLog(systemLog(options.logLevel), secrets);
  tellStrayErrors(log);
  const connections = providerConnections();
  const models = serverModels({ providers, clients: providerClients(connections.fetch) });
  const tools = await loadTools(options);
  const disk = new NodeDisk();
  const tokens = await openTokens(tokensPathOf(options), disk, log);
  const store = await FileSessionStore.open({ disk, path: options.dataDirectory, log });
  const telemetry = options.telemetryFile === undefined ? null : await openTelemetry(options.telemetryFile, log);
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
  const transport = httpTransport();
  const hosts = new Hosts({ vault, issuers: knownIssuers({ apiKey: options.apiKey, tokens }), clock: systemClock, log });
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
    telemetry: telemetry ?? noTelemetry,
    retain: options.retain,
  });
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
  const at = await app.listen(options.listen).catch(async (error: unknown) => {
    await brain.close();
    throw listenFailure(options, error);
  });
  ownAddress = ownUrl(at);
  const url = urlOf(at);
  process.stdout.write(`brain listens on ${url}\n${firstSteps(url, { needsToken: options.apiKey !== undefined })}`);

  let firstSignalAt: number | null = null;
  const stop = (signal: NodeJS.Signals): void => {
    const now = systemClock.monotonic();
    if (firstSignalAt === null) {
      firstSignalAt = now;
      const hint = 'waits for running turns; a second signal, a second or more from now, stops at once';
      log.info('stopping', { signal, running_turns: brain.runningTurns, hint });
      void stopInOrder([
        () => brain.drain(options.drainMs),
        () => hosts.close(),
        () => app.close({ withinMs: CLOSE_MS }),
        () => tokens.close(),
        () => brain.close(),
        () => transport.close(),
        () => connections.close(),
        () => telemetry?.close(),
      ]).then(
        () => process.exit(0),
        (error: unknown) => {
          log.error('stop_failed', { error: String(error) });
          process.exit(1);
        },
      );
    } else if (now - firstSignalAt >= SECOND_SIGNAL_MS) {
      log.warn('stopped_at_once', { signal });
      process.exit(0);
    }
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/**
 * What a tool or a loop throws where nobody listens reaches nobody but the process. A rejection leaves everything as it
 * was; after an exception nobody can say that, and the next start recovers what this one ends in.
 */
function tellStrayErrors(log: Log): void {
  process.on('unhandledRejection', (error) => log.error('stray_rejection', { error: traceOf(error) }));
  process.on('uncaughtException', (error) => {
    log.error('stray_exception', { error: traceOf(error) });
    process.exit(1);
  });
}

/** Reads and callbacks go on while turns run out; then streams end, connections close, and the files are given up. */
async function stopInOrder(steps: readonly (() => Promise<void> | void)[]): Promise<void> {
  for (const step of steps) await step();
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

const parsed = parseOptions(process.argv.slice(2), process.env);
if (!parsed.ok) {
  (parsed.exitCode === 0 ? process.stdout : process.stderr).write(`${parsed.message}\n`);
  process.exit(parsed.exitCode);
}
for (const warning of parsed.warnings) process.stderr.write(`${warning}\n`);
try {
  await start(parsed.options, process.env);
} catch (error) {
  const isOurs =
    error instanceof StartError ||
    error instanceof StorageError ||
    error instanceof ToolsFileError ||
    error instanceof ProvidersFileError;
  process.stderr.write(`brain cannot start: ${isOurs ? error.message : String(error)}\n`);
  process.exit(1);
}
