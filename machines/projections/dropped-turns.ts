/**
 * What a loop is not shown any more: everything between a checkpoint and the resume that went back to it. History keeps
 * it, and every other reader sees it.
 */
import type { Sequence, SessionRecord } from '../records.ts';

/** The sequences strictly between the two. */
export type DroppedRange = readonly [checkpoint: Sequence, resumed: Sequence];

export class DroppedTurns {
  readonly #ranges: DroppedRange[];

  constructor(ranges: readonly DroppedRange[] = []) {
    this.#ranges = [...ranges];
  }

  snapshot(): readonly DroppedRange[] {
    return this.#ranges;
  }

  apply(record: SessionRecord): void {
    if (record.type !== 'session_resumed') return;
    const checkpoint = record.data.checkpoint_sequence;
    // A later resume to the same checkpoint drops the earlier one with all that it dropped.
    while ((this.#ranges.at(-1)?.[0] ?? -1) >= checkpoint) this.#ranges.pop();
    this.#ranges.push([checkpoint, record.sequence]);
  }

  has(sequence: Sequence): boolean {
    return this.#ranges.some(([checkpoint, resumed]) => sequence > checkpoint && sequence < resumed);
  }
}
