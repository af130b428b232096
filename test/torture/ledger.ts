/** What the clients asked for and were told, kept outside of the server: what the auditor holds the server to. */
import type { JournalRecord } from '../support/brain-api.ts';
import type { Follower } from './follower.ts';
import type { MessagePlan } from './message-plan.ts';

export interface SendEntry {
  readonly plan: MessagePlan;
  readonly key: string | null;
  readonly isAsync: boolean;
  /** Whether some try of it got no answer, or one that leaves open what became of it. */
  wasUncertain: boolean;
  /** The body of the first answer with success, and its status. */
  accepted: { readonly sequence: number; readonly last_sequence?: number; readonly outcome?: string } | null;
  /** It is over: nobody tries it again. */
  isSettled: boolean;
}

/** An acknowledged request, by the clock that the server has as well. */
export interface Acknowledged {
  readonly sentAtMs: number;
  readonly acknowledgedAtMs: number;
}

export class SessionEntry {
  readonly tag: string;
  readonly id: string;
  readonly sends = new Map<string, SendEntry>();
  readonly cancels: Acknowledged[] = [];
  readonly resumes: Acknowledged[] = [];
  isEndAcknowledged = false;
  deletion: 'none' | 'asked' | 'acknowledged' = 'none';
  isTouched = true;
  /** Gets no more requests. */
  isRetired = false;
  /** Its followers have seen it whole. */
  isClosed = false;
  /** The journal as the auditor read it last. */
  records: readonly JournalRecord[] = [];
  readonly followers: Follower[] = [];

  constructor(tag: string, id: string) {
    this.tag = tag;
    this.id = id;
  }
}

export class Ledger {
  /** By tag. */
  readonly sessions = new Map<string, SessionEntry>();
  /** The tags of creates that were asked for and not answered with success. */
  readonly uncertainCreates = new Set<string>();
  readonly faults: string[] = [];
  readonly counts = new Map<string, number>();

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  fault(what: string): void {
    this.faults.push(what);
  }

  get usable(): readonly SessionEntry[] {
    return [...this.sessions.values()].filter(({ isRetired }) => !isRetired);
  }
}
