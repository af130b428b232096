import type { Changes } from '../model/changes.ts';
import type { OpenEffect } from '../model/moment.ts';
import { clockText, durationText } from '../model/time-text.ts';
import { useNow } from './use-now.ts';

interface EffectListProps {
  readonly open: readonly OpenEffect[];
  readonly changes: Changes;
  /** The moment's time, epoch milliseconds. */
  readonly at: number;
  /** Whether what is open goes on being so. */
  readonly isFollowing: boolean;
  readonly travel: (to: number) => void;
}

/** What was started and has not ended; and what this record ended. */
export function EffectList({ open, changes, at, isFollowing, travel }: EffectListProps) {
  const now = useNow();
  if (open.length === 0 && changes.closed.length === 0) return <p className="empty">Nothing is open.</p>;
  return (
    <ul className="facts" data-facts="open">
      {open.map(({ sequence, kind, subject, since, deadline }) => (
        <li key={sequence} data-changed={changes.opened.includes(sequence) ? 'new' : undefined}>
          <button type="button" className="sequence-link" onClick={() => travel(sequence)}>
            {sequence}
          </button>
          <span className="fact-text" title={subject}>
            {kind.replaceAll('_', ' ')} {subject}
          </span>
          <span className="fact-age">
            {durationText((isFollowing ? now : at) - since)}
            {deadline === null ? '' : `, until ${clockText(deadline).slice(0, 8)}`}
          </span>
        </li>
      ))}
      {changes.closed.map(({ sequence, kind, subject, since }) => (
        <li key={sequence} data-changed="gone">
          <button type="button" className="sequence-link" onClick={() => travel(sequence)}>
            {sequence}
          </button>
          <span className="fact-text" title={subject}>
            {kind.replaceAll('_', ' ')} {subject}
          </span>
          <span className="fact-age">ended, {durationText(at - since)}</span>
        </li>
      ))}
    </ul>
  );
}
