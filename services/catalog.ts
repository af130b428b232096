/**
 * What lists and status answers are made from: one small row for each session, in memory. A row is a projection of the
 * journal, set by whoever opens or moves the session, before anybody hears of the change; it is no store of its own.
 */
import type { ChartState } from '../machines/projections/status.ts';
import type { Checkpoint } from '../machines/projections/session-facts.ts';
import type { Metadata, Sequence } from '../machines/records.ts';
import type { SessionState } from '../machines/replay.ts';

export interface CatalogRow {
  readonly tenant: string;
  readonly state: ChartState;
  readonly last_sequence: Sequence;
  readonly created_at: number;
  readonly updated_at: number;
  readonly metadata: Metadata;
  readonly checkpoint: Checkpoint | null;
  /** The last record's time, public or private. */
  readonly recorded_at: number;
  /** The running turn, by its `turn_started`; null while none runs. */
  readonly turn: Sequence | null;
  /** How many messages wait. */
  readonly queue_length: number;
}

const NO_METADATA: Metadata = {};

export function rowOf(state: SessionState): CatalogRow {
  const { created, created_at, updated_at, recorded_at, metadata, checkpoint } = state.facts;
  const { turn, queue } = state.context;
  return {
    tenant: created.tenant,
    state: state.state,
    last_sequence: state.lastSequence,
    created_at,
    updated_at,
    metadata: Object.keys(metadata).length === 0 ? NO_METADATA : metadata,
    checkpoint,
    recorded_at,
    turn: turn?.started_sequence ?? null,
    queue_length: queue.length,
  };
}

export class Catalog {
  readonly #rows = new Map<string, CatalogRow>();
  /** Whose the sessions are that have to be looked at again. */
  readonly #owners = new Map<string, string>();
  /** Every session's id, ascending. Ids are issued in ascending order, so that a new one goes to the end. */
  readonly #ids: string[];

  constructor(ids: readonly string[]) {
    this.#ids = [...ids];
  }

  /** The ids after one, ascending. */
  *idsAfter(after: string): Generator<string> {
    for (let index = this.#indexOf(after, 'after'); index < this.#ids.length; index = this.#indexOf(after, 'after')) {
      after = this.#ids[index] ?? after;
      yield after;
    }
  }

  has(sessionId: string): boolean {
    return this.#ids[this.#indexOf(sessionId, 'at')] === sessionId;
  }

  row(sessionId: string): CatalogRow | null {
    return this.#rows.get(sessionId) ?? null;
  }

  set(sessionId: string, row: CatalogRow): void {
    if (!this.#rows.has(sessionId)) this.#list(sessionId);
    this.#rows.set(sessionId, row);
  }

  /** The session has a row from now on. */
  #list(sessionId: string): void {
    const at = this.#indexOf(sessionId, 'at');
    if (this.#ids[at] !== sessionId) this.#ids.splice(at, 0, sessionId);
    this.#owners.delete(sessionId);
  }

  /** The session has to be looked at again before anything is said of it. */
  forgetRow(sessionId: string): void {
    const row = this.#rows.get(sessionId);
    if (row === undefined) return;
    this.#rows.delete(sessionId);
    this.#owners.set(sessionId, row.tenant);
  }

  /** Whose session it is, as far as this process has heard: that never changes. */
  ownerOf(sessionId: string): string | null {
    return this.#rows.get(sessionId)?.tenant ?? this.#owners.get(sessionId) ?? null;
  }

  /** The session cannot be looked at, and is known to be this tenant's all the same. */
  own(sessionId: string, tenant: string): void {
    if (this.has(sessionId) && !this.#rows.has(sessionId)) this.#owners.set(sessionId, tenant);
  }

  remove(sessionId: string): void {
    this.#rows.delete(sessionId);
    this.#owners.delete(sessionId);
    if (this.has(sessionId)) this.#ids.splice(this.#indexOf(sessionId, 'at'), 1);
  }

  /** The first index whose id is at or after the given one, or after it. */
  #indexOf(sessionId: string, bound: 'at' | 'after'): number {
    let low = 0;
    let high = this.#ids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const id = this.#ids[middle] ?? '';
      if (id < sessionId || (bound === 'after' && id === sessionId)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
