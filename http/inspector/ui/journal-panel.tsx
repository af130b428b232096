/** Every record of the session in a list of which only the lines in sight are there. To choose a line is to travel there. */
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { FeedView } from '../data/session-feed.ts';
import type { Paired } from '../model/durations.ts';
import { passing, placeOf } from '../model/record-filter.ts';
import { RECORD_KINDS, type RecordKind, type RecordRow } from '../model/record-row.ts';
import { clockText, durationText } from '../model/time-text.ts';

const ROW_HEIGHT = 26;
const PAGE_ROWS = 15;

interface JournalPanelProps {
  readonly rows: FeedView['rows'];
  readonly version: number;
  readonly durations: ReadonlyMap<number, Paired>;
  readonly sequence: number;
  readonly found: FeedView['found'];
  readonly search: (text: string) => void;
  readonly travel: (to: number) => void;
}

export function JournalPanel({ rows, version, durations, sequence, found, search, travel }: JournalPanelProps) {
  const [kind, setKind] = useState<RecordKind | null>(null);
  const [visibility, setVisibility] = useState<'public' | 'private' | null>(null);
  const [text, setText] = useState('');
  const hits = text !== '' && found?.text === text ? found.sequences : null;
  const shown = useMemo(() => passing(rows, { kind, visibility, found: hits }), [rows, version, kind, visibility, hits]);
  const count = shown?.length ?? rows.length;
  const place = shown === null ? sequence - 1 : placeOf(shown, sequence);
  const sequenceAt = (index: number): number => (shown === null ? index + 1 : (shown[index] ?? 0));

  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({ count, getScrollElement: () => scroller.current, estimateSize: () => ROW_HEIGHT, overscan: 12 });
  // A list that is not shown has no height, and scrolls nowhere.
  const height = list.scrollRect?.height ?? 0;
  useEffect(() => {
    if (height > 0 && place >= 0 && place < count) list.scrollToIndex(place, { align: 'auto' });
  }, [list, place, count, height]);

  const step = (event: KeyboardEvent): void => {
    const to = stepOf(event.key, place, count, sequenceAt(place) === sequence);
    if (to === null) return;
    event.preventDefault();
    if (count > 0) travel(sequenceAt(Math.min(count - 1, Math.max(0, to))));
  };

  return (
    <section className="panel panel-journal" aria-label="Journal">
      <div className="panel-head">
        <h2>Journal</h2>
        <select aria-label="Kind" value={kind ?? ''} onChange={(event) => setKind(RECORD_KINDS.find((known) => known === event.target.value) ?? null)}>
          <option value="">every kind</option>
          {RECORD_KINDS.map((known) => (
            <option key={known}>{known}</option>
          ))}
        </select>
        <select aria-label="Visibility" value={visibility ?? ''} onChange={(event) => setVisibility(event.target.value === 'public' || event.target.value === 'private' ? event.target.value : null)}>
          <option value="">all</option>
          <option>public</option>
          <option>private</option>
        </select>
        <input
          type="search"
          aria-label="Search in records"
          placeholder="Search"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            search(event.target.value);
          }}
        />
      </div>
      <div
        className="journal"
        ref={scroller}
        role="listbox"
        aria-label="Records"
        tabIndex={0}
        onKeyDown={step}
        {...(list.getVirtualItems().some(({ index }) => sequenceAt(index) === sequence) ? { 'aria-activedescendant': `${id}-${sequence}` } : {})}
      >
        <div role="presentation" style={{ height: list.getTotalSize(), position: 'relative' }}>
          {list.getVirtualItems().map(({ index, start }) => {
            const at = sequenceAt(index);
            return (
              <JournalRow key={at} id={`${id}-${at}`} sequence={at} row={rows[at - 1]} paired={durations.get(at) ?? null} isChosen={at === sequence} isLater={at > sequence} top={start} index={index} count={count} travel={travel} />
            );
          })}
        </div>
        {count === 0 && rows.length > 0 && <p className="empty">No record is like this.</p>}
      </div>
    </section>
  );
}

/** The place that a key leads to; null for keys of others. `isOn`: whether the place is the record that is looked at. */
function stepOf(key: string, place: number, count: number, isOn: boolean): number | null {
  switch (key) {
    case 'ArrowDown':
    case 'ArrowRight':
      return isOn ? place + 1 : place;
    case 'ArrowUp':
    case 'ArrowLeft':
      return place - 1;
    case 'PageDown':
      return place + PAGE_ROWS;
    case 'PageUp':
      return place - PAGE_ROWS;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}

interface JournalRowProps {
  readonly id: string;
  readonly sequence: number;
  readonly row: RecordRow | undefined;
  readonly paired: Paired | null;
  readonly isChosen: boolean;
  readonly isLater: boolean;
  readonly top: number;
  readonly index: number;
  readonly count: number;
  readonly travel: (to: number) => void;
}

function JournalRow({ id, sequence, row, paired, isChosen, isLater, top, index, count, travel }: JournalRowProps) {
  const isOpen = paired !== null && paired.isStart && paired.other === null;
  return (
    <div
      id={id}
      className="journal-row"
      role="option"
      aria-selected={isChosen}
      aria-posinset={index + 1}
      aria-setsize={count}
      data-later={isLater}
      data-private={row?.isPublic === false}
      data-kind={row?.kind}
      style={{ transform: `translateY(${top}px)`, height: ROW_HEIGHT }}
      onClick={() => travel(sequence)}
    >
      <span className="journal-sequence">{sequence}</span>
      <span className="journal-time">{row === undefined ? '' : clockText(row.recorded_at)}</span>
      <span className="journal-type" data-outcome={row?.outcome ?? undefined}>
        {row?.type ?? '…'}
      </span>
      <span className="journal-subject">{row?.subject}</span>
      {row?.isPublic === false && <span className="journal-private">private</span>}
      <span className="journal-duration" data-open={isOpen}>
        {isOpen ? 'open' : paired?.milliseconds === null || paired === null ? '' : durationText(paired.milliseconds)}
      </span>
    </div>
  );
}
