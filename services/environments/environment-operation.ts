/**
 * One setup, detach or teardown: sent once, ended once.
 *
 *   O1. Its start record is durable before it is made. What is sent is what that record says.
 *   O2. The first end counts: what the environment answers, the end of its time, or whoever stops it. A late answer goes
 *       nowhere.
 *   O3. It is `failed` where the environment said no, or where it is known that nothing of it arrived. Whatever else kept
 *       it from an answer leaves open whether it was carried out.
 *   O4. Once its end is recorded, the driver is told under the sequence of that record where its executor is to stop. Where
 *       nothing of it arrived the driver is told at once, so that nothing does while that is being recorded.
 */
import type { EnvironmentResult } from '../../machines/commands.ts';
import type { EnvironmentRequest, ResolvedEnvironment, Sequence } from '../../machines/records.ts';
import type { ServiceError } from '../errors.ts';
import type { Intake } from '../intake.ts';
import type { Clock, Log } from '../ports.ts';
import type { SessionActor } from '../session-actor.ts';
import type { SessionCredentials } from '../session-credentials.ts';
import type { TurnLimits } from '../turn-scope.ts';
import { lostRecord, type EnvironmentDriver, type Receipt, type SentOperation } from './operation.ts';

// An environment says why it failed in a line or a page, not in a dump.
const MESSAGE_CHARACTERS_MAX = 4_096;
const CODE_CHARACTERS_MAX = 128;
// Not that of an operation that a restart closed, which is `unknown`: then nobody was there to hear of an answer.
const NO_ANSWER = 'no_answer';

export interface EnvironmentOperationParts {
  readonly sessionId: string;
  readonly actor: SessionActor;
  readonly environment: ResolvedEnvironment;
  /** That of its start record. */
  readonly sequence: Sequence;
  readonly request: EnvironmentRequest;
  readonly driver: EnvironmentDriver;
  readonly credentials: Pick<SessionCredentials, 'openForEnvironment'>;
  readonly intake: Intake;
  readonly limits: Pick<TurnLimits, 'toolMs' | 'cancelMs'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Why nobody waits for it any more. `let_go`: its incarnation is gone, and records nothing. */
export type StoppedBy = 'closed' | 'shutdown' | 'let_go';

const MESSAGE_OF_STOP: Readonly<Record<Exclude<StoppedBy, 'let_go'>, string>> = {
  closed: 'the session was closed',
  shutdown: 'the server was shut down',
};

/** How it ended. `isGivenUp`: it was Brain that waited no longer. Null: there is nothing to record. */
interface End {
  readonly result: EnvironmentResult | null;
  readonly isGivenUp: boolean;
}

type Failure = Omit<EnvironmentResult & { readonly kind: 'failed' }, 'kind'>;

export class EnvironmentOperation {
  readonly #parts: EnvironmentOperationParts;
  readonly #whenStopped: Promise<StoppedBy>;
  #stoppedBy: StoppedBy | null = null;
  #closing: Promise<void> | null = null;
  /** The record of its end failed. */
  #lost: ServiceError | undefined;
  #resolveStopped: (by: StoppedBy) => void = () => undefined;

  constructor(parts: EnvironmentOperationParts) {
    this.#parts = parts;
    this.#whenStopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
  }

  /** One-way: whoever stops it first decides how it ends. */
  stop(by: StoppedBy): void {
    this.#stoppedBy ??= by;
    this.#resolveStopped(this.#stoppedBy);
  }

  /** Carries it out. Resolves when its end is recorded and its executor has stopped, or the cleanup bound is over. Never rejects. */
  async run(): Promise<void> {
    const { actor, credentials, environment, sessionId } = this.#parts;
    const key = await credentials.openForEnvironment(sessionId, actor.state.facts.created, environment.name);
    try {
      if (key.kind === 'unavailable') await this.#record(failed({ outcome: 'failed', code: 'credential_unavailable', message: key.reason }));
      else if (this.#stoppedBy !== null) await this.#record(resultOfStop(this.#stoppedBy, false));
      else await this.#carryOut(key.kind === 'own' ? key.value : null);
    } finally {
      key.release();
    }
  }

  async #carryOut(credential: string | null): Promise<void> {
    let sent: SentOperation | null = null;
    let end: End;
    try {
      sent = this.#send(credential);
      end = await this.#endOf(sent);
    } catch (error) {
      this.#logFault(error);
      end = { result: failed({ outcome: 'unknown', code: 'internal', message: 'the server failed in this operation; its log says why' }), isGivenUp: true };
    }
    const at = await this.#record(end.result);
    if (sent === null) return;
    if (!end.isGivenUp && (at !== null || this.#lost !== undefined)) sent.recorded(this.#lost);
    await this.#closeOnce(sent, end.isGivenUp ? at : null);
  }

  #send(credential: string | null): SentOperation {
    const { actor, driver, environment, request, sequence, sessionId: session_id } = this.#parts;
    const { tenant } = actor.state.facts.created;
    const operation = { session_id, environment: environment.name, sequence, request };
    return driver.send({ tenant, environment, operation, credential, listener: null });
  }

  async #endOf(sent: SentOperation): Promise<End> {
    const { clock, limits } = this.#parts;
    let endTime = (): void => undefined;
    const timeOver = new Promise<End>((resolve) => {
      if (limits.toolMs === null) return;
      endTime = clock.after(limits.toolMs, () => {
        resolve({ result: resultAtDeadline(sent, this.#mayHaveArrived(sent)), isGivenUp: true });
      });
    });
    const stopped = this.#whenStopped.then((by): End => ({ result: resultOfStop(by, this.#mayHaveArrived(sent)), isGivenUp: true }));
    const answered = sent.receipt.then((receipt): End => ({ result: this.#resultOf(receipt), isGivenUp: false }));
    try {
      return await Promise.race([answered, timeOver, stopped]);
    } finally {
      endTime();
    }
  }

  #resultOf(receipt: Receipt): EnvironmentResult {
    const { intake } = this.#parts;
    switch (receipt.type) {
      case 'accepted':
        return { kind: 'done', receipt };
      case 'result': {
        const output = intake.data(receipt.output);
        return output.ok ? { kind: 'done', receipt: { type: 'result', output: output.value } } : unrecordable(output.reason);
      }
      case 'failure':
        return this.#failed({ outcome: 'failed', code: receipt.code === '' ? 'failed' : receipt.code, message: receipt.message });
      case 'unknown':
        return this.#failed({ outcome: 'unknown', code: NO_ANSWER, message: receipt.message });
    }
  }

  /** Asked where nobody waits any more: what did not arrive by now is kept from arriving (O4). */
  #mayHaveArrived(sent: SentOperation): boolean {
    if (sent.mayHaveArrived()) return true;
    void this.#closeOnce(sent, null);
    return false;
  }

  #failed({ outcome, code, message }: Failure): EnvironmentResult {
    const { intake } = this.#parts;
    return failed({ outcome, code: intake.text(code, CODE_CHARACTERS_MAX), message: intake.text(message, MESSAGE_CHARACTERS_MAX) });
  }

  /** Where its end stands; null where nothing was recorded: its incarnation is gone, and recovery ends it. */
  async #record(result: EnvironmentResult | null): Promise<Sequence | null> {
    if (result === null) return null;
    const { actor, sequence: started_sequence } = this.#parts;
    try {
      const receipt = await actor.submit({ kind: 'end_environment_operation', started_sequence, result });
      if (receipt.kind === 'refused' && receipt.code === 'too_large') return await this.#record(unrecordable('it is too large'));
      const records = receipt.kind === 'committed' ? receipt.records : [];
      return records.find(({ data }) => 'started_sequence' in data && data.started_sequence === started_sequence)?.sequence ?? null;
    } catch (error) {
      // What fails the commit discards the session, which says so by itself.
      if (!actor.isStopped) this.#logFault(error);
      this.#lost = lostRecord(error);
      return null;
    }
  }

  #closeOnce(sent: SentOperation, cancelAs: Sequence | null): Promise<void> {
    this.#closing ??= this.#close(sent, cancelAs);
    return this.#closing;
  }

  async #close(sent: SentOperation, cancelAs: Sequence | null): Promise<void> {
    const { clock, limits } = this.#parts;
    let endBound = (): void => undefined;
    const bound = new Promise<void>((resolve) => {
      endBound = clock.after(limits.cancelMs, resolve);
    });
    await Promise.race([sent.close(cancelAs), bound]).catch((error: unknown) => {
      this.#logFault(error);
    });
    endBound();
  }

  #logFault(error: unknown): void {
    const { environment, log, sequence, sessionId } = this.#parts;
    log.error('environment_operation_failed', { session_id: sessionId, environment: environment.name, sequence, error: String(error) });
  }
}

function failed(failure: Failure): EnvironmentResult {
  return { kind: 'failed', ...failure };
}

function resultAtDeadline(sent: SentOperation, mayHaveArrived: boolean): EnvironmentResult {
  if (!mayHaveArrived) return failed({ outcome: 'failed', code: 'timeout', message: 'nobody took it on in its time; nothing was done' });
  const code = sent.atDeadline() === 'timeout' ? 'timeout' : NO_ANSWER;
  return failed({ outcome: 'unknown', code, message: 'it did not answer in its time, and may have been carried out' });
}

function resultOfStop(by: StoppedBy, mayHaveArrived: boolean): EnvironmentResult | null {
  if (by === 'let_go') return null;
  const message = MESSAGE_OF_STOP[by];
  return mayHaveArrived
    ? failed({ outcome: 'cancelled', code: by, message: `${message}; it may have been carried out` })
    : failed({ outcome: 'failed', code: by, message: `${message}; nothing was done` });
}

/** It was carried out, and is not known to have left nothing. */
function unrecordable(reason: string): EnvironmentResult {
  return failed({ outcome: 'unknown', code: 'not_recordable', message: `it was carried out, but its result cannot be recorded: ${reason}` });
}
