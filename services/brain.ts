/**
 * Brain, put together from its parts: nothing lives outside of what this returns.
 *
 * Stopping: `drain` lets running turns, what waits behind them, and what environments were asked run out while reads,
 * streams, cancels and callbacks go on; then followers get their last events and end. `close` gives the files up.
 */
import type { Rules } from '../machines/decide.ts';
import type { Retain } from '../machines/records.ts';
import type { ClaimStore } from '../storage/claims.ts';
import type { CredentialFiles } from '../storage/credential-files.ts';
import type { EnvironmentFiles } from '../storage/environment-files.ts';
import type { SessionStore } from '../storage/journal.ts';
import { AdmittedWork } from './admitted-work.ts';
import { Claims } from './claims.ts';
import { Catalog } from './catalog.ts';
import { Credentials, type CredentialService } from './credentials.ts';
import { Declarations, type EnvironmentService } from './environments/declarations.ts';
import { EnvironmentWork } from './environments/environment-work.ts';
import type { EnvironmentDrivers } from './environments/operation.ts';
import { EventFeed } from './event-feed.ts';
import type { LoopRegistry } from './loops/loop-registry.ts';
import type { ModelRegistry } from './models/model-provider.ts';
import type { Clock, Log, Random } from './ports.ts';
import type { Secrets } from './secrets.ts';
import { SessionCredentials } from './session-credentials.ts';
import { SessionIds } from './session-ids.ts';
import { SessionRegistry } from './session-registry.ts';
import { serviceError } from './session-refusals.ts';
import type { SessionService } from './session-service.ts';
import { Sessions } from './sessions.ts';
import { StatesAtRest } from './states-at-rest.ts';
import type { TelemetrySink } from './telemetry.ts';
import type { ToolRegistry } from './tools/tool.ts';
import type { TurnLimits } from './turn-scope.ts';
import { keepCreateAnswer, UnrecordedRequests } from './unrecorded-requests.ts';
import type { Vault } from './vault.ts';
import { Turns } from './turns.ts';
import { TurnSlots } from './turn-slots.ts';

export interface BrainParts {
  readonly store: SessionStore;
  readonly claims: ClaimStore;
  readonly credentials: CredentialFiles;
  readonly environmentFiles: EnvironmentFiles;
  readonly vault: Vault;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly models: ModelRegistry;
  readonly tools: ToolRegistry;
  readonly drivers: EnvironmentDrivers;
  readonly loops: LoopRegistry;
  readonly limits: TurnLimits;
  /** How many agent loops run at a time. */
  readonly runningTurnsMax: number;
  readonly telemetry: TelemetrySink;
  readonly rules: Rules;
  /** How long a session that does not say keeps its actor. */
  readonly retain: Retain;
}

export interface Brain {
  readonly sessions: SessionService;
  readonly credentials: CredentialService;
  readonly environments: EnvironmentService;
  readonly isDraining: boolean;
  /** How many turns are under way, those that wait for a slot included. */
  readonly runningTurns: number;
  /** Admits nothing new, and waits for what was admitted: `boundMs` at most, then it is cancelled. Null: no bound. */
  drain(boundMs: number | null): Promise<void>;
  /** Gives up the sessions and the data directory. */
  close(): Promise<void>;
}

export async function createBrain(parts: BrainParts): Promise<Brain> {
  const { store, clock, random, log, rules } = parts;
  const [sessionIds, highestRemovedId] = await Promise.all([store.list(), store.highestRemovedId()]);
  const highestId = [sessionIds.at(-1) ?? '', highestRemovedId].toSorted().at(-1) ?? '';
  const catalog = new Catalog(sessionIds);
  const feed = new EventFeed();
  const work = new AdmittedWork();
  const credentials = new Credentials({ ...parts, files: parts.credentials });
  const sessionCredentials = new SessionCredentials({ ...parts, credentials });
  const turns = new Turns({ ...parts, feed, sessionCredentials, slots: new TurnSlots(parts.runningTurnsMax) });
  const environments = new Declarations({ ...parts, files: parts.environmentFiles, credentials });
  const environmentWork = new EnvironmentWork({ ...parts, sessionCredentials });
  let recovered = 0;
  const claims = new Claims(parts.claims, clock);
  const registry = new SessionRegistry({
    store,
    catalog,
    feed,
    clock,
    log,
    rules,
    turns,
    environmentWork,
    statesAtRest: new StatesAtRest(),
    beforeRemoval: (tenant, journal) => keepCreateAnswer(claims, tenant, journal),
    onRecovered: () => {
      recovered += 1;
    },
  });
  let isDraining = false;
  let isClosed = false;
  const sessions = new Sessions({
    registry,
    catalog,
    feed,
    ids: new SessionIds(clock, random, highestId),
    creation: parts,
    declarations: environments,
    sessionCredentials,
    work,
    unrecorded: new UnrecordedRequests({ claims, catalog, registry, log }),
    clock,
    isDraining: () => isDraining,
  });

  /** Looks at each session once, in the background, so that lists and first reads find them recovered. */
  const fillCatalog = async (): Promise<void> => {
    let refused = 0;
    for (const sessionId of sessionIds) {
      if (isDraining) return;
      if (!catalog.has(sessionId) || catalog.row(sessionId) !== null) continue;
      await registry.recover(sessionId).catch((error: unknown) => {
        const { code } = serviceError(error);
        // It never was a session, or its delete was finished.
        if (code === 'not_found') return;
        refused += 1;
        log.error('session_refused', { session_id: sessionId, code, error: String(error) });
      });
    }
    // Sessions that were at work when the last process died: each was recovered by the first look at it, ours or a client's.
    log.info('sessions_recovered', { sessions: sessionIds.length, interrupted: recovered, refused });
  };
  const filling = fillCatalog();

  return {
    sessions,
    credentials,
    environments,
    get isDraining() {
      return isDraining;
    },
    get runningTurns() {
      return turns.sessionIds.length;
    },
    async drain(boundMs) {
      isDraining = true;
      let isBoundOver = false;
      const cancelLeft = (): void => {
        isBoundOver = true;
        for (const sessionId of turns.sessionIds) cancelForShutdown(sessionId);
        environmentWork.stopAll();
      };
      const endBound = boundMs === null ? () => undefined : clock.after(boundMs, cancelLeft);
      await filling;
      while (work.count > 0 || turns.sessionIds.length > 0 || environmentWork.sessions > 0) {
        await work.whenNone();
        // What was admitted before the bound may have started its turn only now.
        if (isBoundOver) cancelLeft();
        await turns.whenNone();
        // The end of a turn may have been the end of its session.
        await environmentWork.whenNone();
      }
      endBound();
      feed.close();
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      isDraining = true;
      await filling;
      feed.close();
      await registry.close();
      await store.close();
    },
  };

  function cancelForShutdown(sessionId: string): void {
    registry.command(sessionId, { kind: 'cancel', by: 'shutdown' }).catch((error: unknown) => {
      log.error('shutdown_cancel_failed', { session_id: sessionId, error: String(error) });
    });
  }
}
