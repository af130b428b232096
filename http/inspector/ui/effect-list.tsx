import type { ReactNode } from 'react';
import type { Changes } from '../model/changes.ts';
import type { OpenEffect } from '../model/moment.ts';
import { clockText, durationText } from '../model/time-text.ts';
import { SequenceLink } from './sequence-link.tsx';
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
      {open.map((effect) => (
        <EffectItem key={effect.sequence} effect={effect} changed={changes.opened.includes(effect.sequence) ? 'new' : undefined} travel={travel}>
          {durationText((isFollowing ? now : at) - effect.since)}
          {effect.deadline === null ? '' : `, until ${clockText(effect.deadline).slice(0, 8)}`}
        </EffectItem>
      ))}
      {changes.closed.map((effect) => (
        <EffectItem key={effect.sequence} effect={effect} changed="gone" travel={travel}>
          ended, {durationText(at - effect.since)}
        </EffectItem>
      ))}
    </ul>
  );
}

interface EffectItemProps {
  readonly effect: OpenEffect;
  readonly changed: 'new' | 'gone' | undefined;
  readonly travel: (to: number) => void;
  /** How long it has been open, or was. */
  readonly children: ReactNode;
}

function EffectItem({ effect: { sequence, kind, subject }, changed, travel, children }: EffectItemProps) {
  return (
    <li data-changed={changed}>
      <SequenceLink sequence={sequence} travel={travel} />
      <span className="fact-text" title={subject}>
        {kind.replaceAll('_', ' ')} {subject}
      </span>
      <span className="fact-age">{children}</span>
    </li>
  );
}
