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

  static from(snapshot: KeyedRequestsSnapshot): KeyedRequests {
    const requests = new KeyedRequests();
    for (const [name, known] of snapshot) requests.#known.set(name, known);
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
    if (record.type === 'turn_ended') this.#complete(ROUTE_SEND, record.data.message_sequence, record.recorded_at);
    if (record.type === 'turn_failed' && record.data.code !== 'interrupted_by_restart') {
      this.#complete(ROUTE_SEND, record.data.message_sequence, record.recorded_at);
    }
    if (record.type === 'session_ended') this.#complete(ROUTE_END, null, record.recorded_at);
  }

  #learn({ sequence, recorded_at }: SessionRecord, request: KeyedRequest): void {
    for (const [name, known] of this.#known) if (isForgotten(known, recorded_at)) this.#known.delete(name);
    const isAnsweredLater = request.route === ROUTE_SEND || request.route === ROUTE_END;
    this.#known.set(nameOf(request), { sequence, body: request.body, completed_at: isAnsweredLater ? null : recorded_at });
  }

  /** `sequence`: of the one request that is complete; null for all of the route. */
  #complete(route: string, sequence: Sequence | null, recorded_at: number): void {
    for (const [name, known] of this.#known) {
      const isIt = name.startsWith(`${route} `) && (sequence === null || known.sequence === sequence);
      if (isIt && known.completed_at === null) this.#known.set(name, { ...known, completed_at: recorded_at });
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
