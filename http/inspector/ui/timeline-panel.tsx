/** What took time, as traces are shown: one turn's bars under one another, or those of the whole session. */
import { useMemo, useRef, useState } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { turnAt, type Bar } from '../model/bars.ts';
import { durationText } from '../model/time-text.ts';
import { placeIn, scaleOf, ticksOf, type TimeScale } from '../model/time-scale.ts';
import { useNow } from './use-now.ts';

const ROW_HEIGHT = 24;

interface TimelinePanelProps {
  readonly bars: readonly Bar[];
  readonly sequence: number;
  /** The moment's time, epoch milliseconds. */
  readonly recordedAt: number | null;
  readonly isFollowing: boolean;
  readonly travel: (to: number) => void;
}

export function TimelinePanel({ bars, sequence, recordedAt, isFollowing, travel }: TimelinePanelProps) {
  const [scope, setScope] = useState<'turn' | 'session'>('turn');
  const now = useNow();
  const turn = turnAt(bars, sequence);
  const shown = useMemo(() => (scope === 'session' || turn === null ? bars : bars.filter((bar) => bar.turn === turn)), [bars, scope, turn]);
  const isRunning = shown.some(({ end }) => end === null);
  // What is over does not need the time of now, and is not drawn again with each second.
  const until = isRunning ? now : 0;
  const scale = useMemo(() => scaleOf(shown, until), [shown, until]);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({ count: shown.length, getScrollElement: () => scroller.current, estimateSize: () => ROW_HEIGHT, overscan: 6 });

  return (
    <section className="panel panel-timeline" aria-label="Timeline" data-panel="timeline">
      <div className="panel-head">
        <h2>Timeline</h2>
        <select aria-label="Timeline of" value={scope} onChange={(event) => setScope(event.target.value === 'session' ? 'session' : 'turn')}>
          <option value="turn">{turn === null ? 'no turn yet' : `turn ${turn}`}</option>
          <option value="session">whole session</option>
        </select>
        <span className="timeline-length">{shown.length === 0 ? '' : durationText(scale.lengthMs)}</span>
      </div>
      <div className="timeline-axis" aria-hidden="true">
        {ticksOf(scale).map(({ place, milliseconds }) => (
          <span key={milliseconds} style={{ left: `${place * 100}%` }}>
            {durationText(milliseconds)}
          </span>
        ))}
      </div>
      <div className="timeline" ref={scroller} role="region" aria-label="Bars" tabIndex={0}>
        <div style={{ height: list.getTotalSize(), position: 'relative' }}>
          {list.getVirtualItems().map(({ index, start }) => {
            const bar = shown[index];
            return bar === undefined ? null : <TimelineRow key={bar.sequence} bar={bar} scale={scale} now={now} top={start} isLater={bar.sequence > sequence} travel={travel} />;
          })}
          {!isFollowing && recordedAt !== null && shown.length > 0 && (
            <div className="timeline-track timeline-moment-track" aria-hidden="true">
              <div className="timeline-moment" style={{ left: `${placeIn(scale, recordedAt) * 100}%` }} />
            </div>
          )}
        </div>
        {shown.length === 0 && <p className="empty">Nothing has run yet.</p>}
      </div>
    </section>
  );
}

interface TimelineRowProps {
  readonly bar: Bar;
  readonly scale: TimeScale;
  readonly now: number;
  readonly top: number;
  readonly isLater: boolean;
  readonly travel: (to: number) => void;
}

function TimelineRow({ bar, scale, now, top, isLater, travel }: TimelineRowProps) {
  const from = placeIn(scale, bar.start);
  const to = placeIn(scale, bar.end ?? now);
  const length = durationText((bar.end ?? now) - bar.start);
  return (
    <button
      type="button"
      className="timeline-row"
      data-kind={bar.kind}
      data-outcome={bar.outcome ?? 'open'}
      data-later={isLater}
      style={{ transform: `translateY(${top}px)`, height: ROW_HEIGHT }}
      title={`${bar.name}: ${bar.kind.replace('_', ' ')}, ${bar.outcome ?? 'open'}`}
      onClick={() => travel(bar.sequence)}
    >
      <span className="timeline-name" style={{ paddingLeft: bar.depth * 10 }}>
        {bar.name}
      </span>
      <span className="timeline-track">
        <span className="timeline-bar" style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }} />
      </span>
      <span className="timeline-duration">{length}</span>
    </button>
  );
}
