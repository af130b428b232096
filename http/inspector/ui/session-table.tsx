/** The list of sessions. Only the rows in sight are there, so that ten thousand cost what twenty do. */
import { useEffect, useRef } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { parseUtcTime } from '../../../machines/utc-time.ts';
import type { Sight } from '../data/session-list.ts';
import type { SessionEntry } from '../data/wire.ts';
import { hashOf } from '../model/route.ts';
import { durationText } from '../model/time-text.ts';
import { StatusPill } from './status-pill.tsx';
import { useIsNarrow } from './use-is-narrow.ts';
import { useNow } from './use-now.ts';

const ROW_HEIGHT = 40;
const NARROW_ROW_HEIGHT = 84;

interface SessionTableProps {
  readonly sessions: readonly SessionEntry[];
  readonly isComplete: boolean;
  readonly onSight: (sight: Sight | null) => void;
}

/** Rows have their height before they are drawn: where it changes, the list is another one. */
export function SessionTable(props: SessionTableProps) {
  const isNarrow = useIsNarrow();
  return <SessionRows key={String(isNarrow)} height={isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT} {...props} />;
}

function SessionRows({ sessions, isComplete, onSight, height }: SessionTableProps & { readonly height: number }) {
  const scroller = useRef<HTMLDivElement>(null);
  const now = useNow();
  const rows = useVirtualizer({ count: sessions.length, getScrollElement: () => scroller.current, estimateSize: () => height, overscan: 8, getItemKey: (index) => sessions[index]?.session_id ?? index });
  const newest = sessions[rows.range?.startIndex ?? 0]?.session_id;
  const oldest = sessions[rows.range?.endIndex ?? 0]?.session_id;
  useEffect(() => onSight(newest === undefined || oldest === undefined ? null : { newest, oldest }), [onSight, newest, oldest]);

  return (
    <div className="session-table" role="table" aria-label="Sessions" aria-rowcount={sessions.length + 1}>
      <div role="rowgroup">
        <div className="session-row session-head" role="row">
          {['Session', 'Status', 'Tenant', 'Age', 'Last record', 'Turn', 'Queue', 'Metadata'].map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
      </div>
      <div className="session-scroller" ref={scroller} role="rowgroup" tabIndex={-1}>
        <div role="presentation" style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {rows.getVirtualItems().map(({ index, start, key }) => {
            const session = sessions[index];
            return session === undefined ? null : <SessionRow key={key} session={session} index={index} top={start} height={height} now={now} />;
          })}
        </div>
        {isComplete && sessions.length === 0 && <p className="empty">No session is like this.</p>}
      </div>
    </div>
  );
}

interface SessionRowProps {
  readonly session: SessionEntry;
  readonly index: number;
  readonly top: number;
  readonly height: number;
  readonly now: number;
}

function SessionRow({ session, index, top, height, now }: SessionRowProps) {
  const link = (
    <span role="cell" className="session-id">
      <a href={hashOf({ kind: 'session', sessionId: session.session_id, at: null })}>{session.session_id}</a>
    </span>
  );
  const place = { transform: `translateY(${top}px)`, height };
  if ('damaged' in session) {
    return (
      <div className="session-row session-damaged" role="row" aria-rowindex={index + 2} style={place}>
        {link}
        <span role="cell">
          <StatusPill status="damaged" />
        </span>
        <span role="cell" className="session-why" title={session.explanation}>
          {session.explanation}
        </span>
      </div>
    );
  }
  const metadata = Object.entries(session.metadata).map(([key, value]) => `${key}=${value}`).join(' ');
  return (
    <div className="session-row" role="row" aria-rowindex={index + 2} style={place}>
      {link}
      <span role="cell">
        <StatusPill status={session.status} />
      </span>
      <span role="cell" data-label="tenant">
        {session.tenant}
      </span>
      <span role="cell" data-label="age" title={session.created_at}>
        {ageOf(session.created_at, now)}
      </span>
      <span role="cell" data-label="last" title={session.last_recorded_at}>
        {session.last_sequence}, {ageOf(session.last_recorded_at, now)} ago
      </span>
      <span role="cell" data-label="turn">
        {session.running_turn ?? '–'}
      </span>
      <span role="cell" data-label="queue">
        {session.queue_length}
      </span>
      <span role="cell" className="session-metadata" title={metadata}>
        {metadata}
      </span>
    </div>
  );
}

/** Of a time that is told to the second. */
function ageOf(time: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - (parseUtcTime(time) ?? now)) / 1000));
  return seconds === 0 ? '0 s' : durationText(seconds * 1000);
}
