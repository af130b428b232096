/**
 * The keyed requests that a session knows: which record each one first caused. A key lives in that record, so that it
 * holds across restarts, and its answer is a reading of the journal.
 *
 *   K1. A key whose answer is complete is known for 24 hours from then on.
 *   K2. A key whose answer never came, since the turn that it started was closed by recovery, is known for ever: what it
 *       asked for may have been done, and is not done again.
 */
import type { KeyedRequest, Sequence, SessionRecord } from '../records.ts';

const ANSWER_KEPT_MS = 24 * 60 * 60 * 1000;

/** The routes of which the answer comes later than the record that they cause. */
const ROUTE_SEND = 'send';
const ROUTE_END = 'end';

export interface FirstRequest {
  /** The first record that the request caused. */
  readonly sequence: Sequence;
  /** SHA-256 of the body's canonical JSON, in hex. */
  readonly body: string;
}

interface Known extends FirstRequest {
  /** When its answer was complete, epoch milliseconds; null while it is not. */
  readonly completed_at: number | null;
}

export type KeyedRequestsSnapshot = readonly (readonly [string, Known])[];

export class KeyedRequests {
  readonly #known = new Map<string, Known>();
  /** The names of those whose answer is not complete, by the record that they first caused. */
  readonly #pending = new Map<Sequence, string>();
  /** The names of the others, in the order in which their answers were complete: the first is the first to be forgotten. */
  readonly #completed = new Set<string>();

  static from(snapshot: KeyedRequestsSnapshot): KeyedRequests {
    const requests = new KeyedRequests();
    for (const [name, known] of snapshot.toSorted(([, left], [, right]) => (left.completed_at ?? 0) - (right.completed_at ?? 0))) {
      requests.#know(name, known);
    }
    return requests;
  }

  snapshot(): KeyedRequestsSnapshot {
    return [...this.#known];
  }

  /** What a request of this key and route first caused; null where the key is free. `now`: epoch milliseconds. */
  find(request: KeyedRequest, now: number): FirstRequest | null {
    const known = this.#known.get(nameOf(request));
    return known === undefined || isForgotten(known, now) ? null : known;
  }

  apply(record: SessionRecord): void {
    if (record.request !== undefined) this.#learn(record, record.request);
    switch (record.type) {
      case 'turn_ended':
        this.#complete(ROUTE_SEND, record.data.message_sequence, record.recorded_at);
        break;
      case 'turn_failed':
        if (record.data.code !== 'interrupted_by_restart') this.#complete(ROUTE_SEND, record.data.message_sequence, record.recorded_at);
        break;
      case 'session_ended':
        for (const sequence of this.#pending.keys()) this.#complete(ROUTE_END, sequence, record.recorded_at);
        break;
      default:
        break;
    }
  }

  #learn({ sequence, recorded_at }: SessionRecord, request: KeyedRequest): void {
    this.#forget(recorded_at);
    const isAnsweredLater = request.route === ROUTE_SEND || request.route === ROUTE_END;
    this.#know(nameOf(request), { sequence, body: request.body, completed_at: isAnsweredLater ? null : recorded_at });
  }

  #know(name: string, known: Known): void {
    this.#pending.delete(this.#known.get(name)?.sequence ?? known.sequence);
    this.#completed.delete(name);
    this.#known.set(name, known);
    if (known.completed_at === null) this.#pending.set(known.sequence, name);
    else this.#completed.add(name);
  }

  /** Where the record is the first of such a request that waits for its answer, the answer is complete. */
  #complete(route: string, sequence: Sequence, completed_at: number): void {
    const name = this.#pending.get(sequence);
    const known = name === undefined ? undefined : this.#known.get(name);
    if (name === undefined || known === undefined || !name.startsWith(`${route} `)) return;
    this.#know(name, { ...known, completed_at });
  }

  #forget(now: number): void {
    for (const name of this.#completed) {
      const known = this.#known.get(name);
      if (known !== undefined && !isForgotten(known, now)) return;
      this.#completed.delete(name);
      this.#known.delete(name);
    }
  }
}

function isForgotten({ completed_at }: Known, now: number): boolean {
  return completed_at !== null && now - completed_at > ANSWER_KEPT_MS;
}

// A route has no space in it, so that two pairs never make one name.
function nameOf({ route, key }: KeyedRequest): string {
  return `${route} ${key}`;
}
