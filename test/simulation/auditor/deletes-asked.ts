/** Who asked for the delete of a session, and may still have it carried out: as long as anybody may, the session is leaving. */
import type { Request } from '../request.ts';
import { nameOf } from './answers.ts';
import type { DurableSessions } from './durable-sessions.ts';
import { expectThat } from './violation.ts';

/** With these a delete takes nothing away any more. What others asked for may yet. */
const IN_VAIN = new Set(['must_end', 'session_busy', 'teardown_failed', 'idempotency_mismatch', 'idempotency_in_progress', 'idempotency_ambiguous']);

export class DeletesAsked {
  readonly #sessions: DurableSessions;
  /** Of each session, and with each delete those that were over, lost or failed, before it was asked. */
  readonly #standing = new Map<string, Map<Request, readonly Request[]>>();

  constructor(sessions: DurableSessions) {
    this.#sessions = sessions;
  }

  asked(sessionId: string, request: Request): void {
    const standing = this.#standing.get(sessionId) ?? new Map<Request, readonly Request[]>();
    const over = [...standing.keys()].filter(({ status }) => status !== 'pending');
    this.#standing.set(sessionId, standing.set(request, over));
    this.#sessions.leaving.add(sessionId);
  }

  refused(sessionId: string, request: Request, code: string): void {
    const standing = this.#standing.get(sessionId);
    if (standing === undefined || !IN_VAIN.has(code)) return;
    // Once a delete is recorded no other one is told to end the session first: none of those was.
    if (code === 'must_end') for (const before of standing.get(request) ?? []) standing.delete(before);
    standing.delete(request);
    if (standing.size > 0) return;
    this.#sessions.leaving.delete(sessionId);
    expectThat(this.#sessions.ids.includes(sessionId), 1, () => `${nameOf(request)} is refused with ${code}, and the session is gone`);
  }
}
