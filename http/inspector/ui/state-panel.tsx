/** What a session holds at a moment, beside its state: the queue, the open effects, the transcript and the key-values. */
import type { FeedView } from '../data/session-feed.ts';
import type { Changes } from '../model/changes.ts';
import type { Moment } from '../model/moment.ts';
import { EffectList } from './effect-list.tsx';
import { KeyValueList } from './key-value-list.tsx';
import { QueueList } from './queue-list.tsx';
import { TranscriptView } from './transcript-view.tsx';

interface StatePanelProps {
  readonly moment: Moment | null;
  readonly changes: Changes | null;
  readonly writing: FeedView['writing'];
  readonly isFollowing: boolean;
  readonly travel: (to: number) => void;
  readonly showMessages: (count: number) => void;
}

export function StatePanel({ moment, changes, writing, isFollowing, travel, showMessages }: StatePanelProps) {
  if (moment === null || changes === null) {
    return (
      <section className="panel panel-state" aria-label="State">
        <p className="empty">Folding the journal…</p>
      </section>
    );
  }
  return (
    <section className="panel panel-state" aria-label="State" data-moment={moment.sequence}>
      <h2>
        Queue <small>{moment.queue.length}</small>
      </h2>
      <QueueList queue={moment.queue} changes={changes} at={moment.recorded_at} isFollowing={isFollowing} travel={travel} />
      <h2>
        Open effects <small>{moment.open.length}</small>
      </h2>
      <EffectList open={moment.open} changes={changes} at={moment.recorded_at} isFollowing={isFollowing} travel={travel} />
      <h2>
        Key-values <small>{moment.keyValues.length}</small>
      </h2>
      <KeyValueList keyValues={moment.keyValues} changes={changes} />
      <h2>
        Transcript <small>{moment.transcript.length}</small>
      </h2>
      <TranscriptView transcript={moment.transcript} changes={changes} writing={writing} showMessages={showMessages} />
    </section>
  );
}
