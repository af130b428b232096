import type { Changes } from '../model/changes.ts';
import type { QueuedMessage } from '../model/moment.ts';
import { SequenceLink } from './sequence-link.tsx';

interface QueueListProps {
  readonly queue: readonly QueuedMessage[];
  readonly changes: Changes;
  readonly travel: (to: number) => void;
}

/** The messages that wait for their turn, the next one first; and the ones that do not any more since this record. */
export function QueueList({ queue, changes, travel }: QueueListProps) {
  if (queue.length === 0 && changes.unqueued.length === 0) return <p className="empty">No message waits.</p>;
  return (
    <ol className="facts" data-facts="queue">
      {queue.map(({ sequence, text }) => (
        <li key={sequence} data-changed={changes.queued.includes(sequence) ? 'new' : undefined}>
          <SequenceLink sequence={sequence} travel={travel} />
          <span className="fact-text">{text}</span>
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
