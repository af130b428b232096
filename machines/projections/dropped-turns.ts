/**
 * What a loop is not shown any more: everything between a checkpoint and the resume that went back to it, and the
 * messages whose turns fell there although they were queued before. History keeps it, and every other reader sees it.
 */
import type { Sequence, SessionRecord } from '../records.ts';

/** The sequences strictly between the two. */
export type DroppedRange = readonly [checkpoint: Sequence, resumed: Sequence];

export interface DroppedTurnsSnapshot {
  readonly ranges: readonly DroppedRange[];
  readonly messages: readonly Sequence[];
  readonly waiting: readonly Sequence[];
  readonly waiting_at_checkpoint: readonly Sequence[];
}

export class DroppedTurns {
  #ranges: readonly DroppedRange[] = [];
  /** The dropped messages that were queued before the checkpoint. */
  #messages: readonly Sequence[] = [];
  #waiting: readonly Sequence[] = [];
  #waitingAtCheckpoint: readonly Sequence[] = [];

  static from(snapshot: DroppedTurnsSnapshot): DroppedTurns {
    const dropped = new DroppedTurns();
    dropped.#ranges = snapshot.ranges;
    dropped.#messages = snapshot.messages;
    dropped.#waiting = snapshot.waiting;
    dropped.#waitingAtCheckpoint = snapshot.waiting_at_checkpoint;
    return dropped;
  }

  snapshot(): DroppedTurnsSnapshot {
    return {
      ranges: this.#ranges,
      messages: this.#messages,
      waiting: this.#waiting,
      waiting_at_checkpoint: this.#waitingAtCheckpoint,
    };
  }

  apply(record: SessionRecord): void {
    switch (record.type) {
      case 'message_queued':
        this.#waiting = [...this.#waiting, record.sequence];
        return;
      case 'turn_started':
      case 'message_withdrawn':
      case 'message_failed':
        this.#waiting = this.#waiting.filter((waiting) => waiting !== record.data.message_sequence);
        return;
      case 'session_ready':
      case 'turn_ended':
        this.#waitingAtCheckpoint = this.#waiting;
        return;
      case 'session_resumed': {
        const checkpoint = record.data.checkpoint_sequence;
        // A later resume to the same checkpoint drops the earlier one with all that it dropped.
        const before = this.#ranges.filter(([earlier]) => earlier < checkpoint);
        this.#ranges = [...before, [checkpoint, record.sequence]];
        // A stopped turn leaves no message waiting: each of these was started, withdrawn or failed in what is dropped.
        this.#messages = [...this.#messages, ...this.#waitingAtCheckpoint];
        this.#waitingAtCheckpoint = [];
        return;
      }
      default:
        return;
    }
  }

  has(sequence: Sequence): boolean {
    return (
      this.#ranges.some(([checkpoint, resumed]) => sequence > checkpoint && sequence < resumed) ||
      this.#messages.includes(sequence)
    );
  }
}
