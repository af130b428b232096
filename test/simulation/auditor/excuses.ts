/** Which errors a client may be answered with: each needs a cause in what was done to the world, or to the session. */
import { TENANTS, type Request } from '../request.ts';
import { nameOf } from './answers.ts';
import type { Declared } from './declared.ts';
import type { DurableSessions } from './durable-sessions.ts';
import { expectThat } from './violation.ts';

/** What depends on how the session stood at an instant between question and answer. */
const REFUSALS = new Set(['session_busy', 'session_ending', 'session_ended', 'must_resume', 'not_resumable', 'must_end', 'invalid_cursor', 'queue_full', 'already_started']);

export class Excuses {
  readonly #sessions: DurableSessions;
  readonly #declared: Declared;
  /** Parts of paths on which calls failed; null: any may have. */
  readonly #failed: string[] = [];
  readonly #bodies = new Map<string, Set<string>>();
  readonly #acknowledged = new Set<string>();
  #hasDied = false;
  isDraining = false;
  /** The labels of the sessions that are being created: nobody can know their ids yet. */
  readonly #creating = new Set<string>();
  /** No fault is injected any more: whatever is asked for from now on has no excuse to fail. */
  isHealed = false;
  readonly #askedWhenHealed = new Set<number>();
  readonly #askedWhileCreating = new Set<number>();

  constructor(sessions: DurableSessions, declared: Declared) {
    this.#sessions = sessions;
    this.#declared = declared;
  }

  died(): void {
    this.#hasDied = true;
    this.#creating.clear();
    this.isDraining = false;
  }

  /** A call on this path was made to fail, or was taken half. */
  failed(path: string): void {
    const sessionId = /sessions\/([0-9a-f]{32})/.exec(path)?.[1];
    this.#failed.push(sessionId ?? '');
  }

  asked(request: Request): void {
    const bodies = this.#bodies.get(scopeOf(request)) ?? new Set();
    this.#bodies.set(scopeOf(request), bodies.add(request.body));
    if (request.route === 'create' && !request.isRepeat) this.#creating.add(request.label);
    if (this.#sessions.ledger(request.sessionId ?? '')?.state === 'creating') this.#askedWhileCreating.add(request.number);
    if (this.isHealed) this.#askedWhenHealed.add(request.number);
  }

  answered({ route, sessionId, label }: Request): void {
    if (route === 'create') this.#creating.delete(label);
    if (route === 'delete' && sessionId !== null) this.#acknowledged.add(sessionId);
  }

  check(request: Request, code: string): void {
    const { label, sessionId, route } = request;
    // A repeat is refused while the first one goes on.
    if (route === 'create' && !request.isRepeat) this.#creating.delete(label);
    if (REFUSALS.has(code)) {
      const state = this.#sessions.ledger(sessionId ?? '')?.state ?? 'none';
      const isWrong = code === 'session_ended' && (state === 'idle' || state === 'suspended') && !this.#sessions.rotten.has(sessionId ?? '');
      expectThat(!isWrong, 7, () => `${nameOf(request)} is refused with ${code}, and the session is ${state}`);
      return;
    }
    expectThat(this.#isExcused(request, code), 11, () => `${nameOf(request)} is refused with ${code}, and nothing was done that explains it`);
  }

  /** Whether the disk, or the end of the process, explains this code. */
  isOfDisk(code: string): boolean {
    if (code === 'draining') return this.isDraining;
    return (code === 'journal_unavailable' || code === 'disk_full') && (this.isDraining || this.#failed.length > 0);
  }

  /** Whether whoever reports something may hear this: that it is over, was never theirs, or is more than they may say. */
  isOfReport(code: string): boolean {
    return ['already_closed', 'conflict', 'invalid_request', 'too_large'].includes(code) || this.isOfDisk(code);
  }

  checkStream(sessionId: string, code: string): void {
    const isExcused = (code === 'journal_unavailable' || code === 'disk_full') && this.hasFailedOn(sessionId);
    expectThat(isExcused || code === 'draining', 11, () => `a stream ends with ${code}, and nothing was done that explains it`);
  }

  #isExcused(request: Request, code: string): boolean {
    const { sessionId, key } = request;
    switch (code) {
      case 'journal_corrupt':
        // A repeated create is answered from the session that it made; a list leaves out what it cannot read.
        return sessionId === null ? request.route === 'create' && this.#sessions.rotten.size > 0 : this.#sessions.rotten.has(sessionId);
      case 'journal_unavailable':
      case 'disk_full':
        return (this.hasFailedOn(sessionId) && !this.#askedWhenHealed.has(request.number)) || this.isDraining;
      case 'not_found':
        // Whose a journal is that cannot be read, nobody knows: only the operator is told of it.
        if (request.tenant !== TENANTS[0] && this.#sessions.rotten.has(sessionId ?? '')) return true;
        // On the lifecycle surface a session is there once it is created.
        if ((request.route === 'lifecycle' || request.route === 'waiting') && this.#askedWhileCreating.has(request.number)) return true;
        return request.route === 'withdraw' || this.#creating.has(request.label) || sessionId === null || this.#sessions.leaving.has(sessionId) || !this.#sessions.ids.includes(sessionId);
      case 'draining':
        return this.isDraining;
      case 'unknown_environment':
        return request.route === 'create' && this.#declared.mayHaveBeenMissing(request.label);
      case 'environment_failed': {
        const [id = '', ledger] = this.#sessions.byLabel(request.label) ?? [];
        return request.route === 'create' && (ledger === undefined ? key !== null : this.#sessions.rotten.has(id) || ledger.records.some(({ type }) => type === 'environment_setup_failed'));
      }
      case 'teardown_failed': {
        const ledger = this.#sessions.ledger(sessionId ?? '');
        return request.route === 'delete' && (ledger === null ? key !== null : this.#sessions.rotten.has(sessionId ?? '') || ledger.records.some(({ type }) => type === 'environment_teardown_failed'));
      }
      case 'idempotency_mismatch':
      case 'conflict':
        return (code === 'conflict') === (request.route === 'queue') && key !== null && (this.#bodies.get(scopeOf(request))?.size ?? 0) > 1;
      case 'idempotency_in_progress':
        return key !== null && request.isRepeat;
      case 'idempotency_ambiguous':
        // An end that waited while its session was given up and recovered is told what a repeat of it will be told.
        return key !== null && (request.isRepeat || request.route === 'end') && (this.#hasDied || this.#failed.length > 0);
      default:
        return false;
    }
  }

  /** On the session's own files, or on what all share. A create may meet any of them; a list says which it could not read. */
  hasFailedOn(sessionId: string | null): boolean {
    return sessionId === null ? this.#failed.length > 0 : this.#failed.some((one) => one === '' || one === sessionId);
  }
}

function scopeOf({ route, tenant, sessionId, key }: Request): string {
  return `${route} ${tenant} ${sessionId ?? ''} ${key ?? ''}`;
}
