import type { Changes } from '../model/changes.ts';
import type { QueuedMessage } from '../model/moment.ts';
import { durationText } from '../model/time-text.ts';
import { SequenceLink } from './sequence-link.tsx';
import { useNow } from './use-now.ts';

interface QueueListProps {
  readonly queue: readonly QueuedMessage[];
  readonly changes: Changes;
  /** The moment's time, epoch milliseconds. */
  readonly at: number;
  /** Whether what waits goes on waiting. */
  readonly isFollowing: boolean;
  readonly travel: (to: number) => void;
}

/** The messages that wait for their turn, the next one first; and the ones that do not any more since this record. */
export function QueueList({ queue, changes, at, isFollowing, travel }: QueueListProps) {
  const now = useNow();
  if (queue.length === 0 && changes.unqueued.length === 0) return <p className="empty">No message waits.</p>;
  return (
    <ol className="facts" data-facts="queue">
      {queue.map(({ sequence, text, since }) => (
        <li key={sequence} data-changed={changes.queued.includes(sequence) ? 'new' : undefined}>
          <SequenceLink sequence={sequence} travel={travel} />
          <span className="fact-text">{text}</span>
          <span className="fact-age">{durationText((isFollowing ? now : at) - since)}</span>
        </li>
      ))}
      {changes.unqueued.map((sequence) => (
        <li key={sequence} data-changed="gone">
          <SequenceLink sequence={sequence} travel={travel} />
          <span className="fact-text">left the queue</span>
        </li>
      ))}
    </ol>
  );
}
