/** All sessions: to be looked through, filtered and opened. */
import { useCallback, useDeferredValue, useState } from 'react';
import { SESSION_STATUSES, type SessionStatus } from '../../../machines/projections/status.ts';
import { SessionList, UNREAD_LIST, type SessionQuery, type Sight } from '../data/session-list.ts';
import type { Server } from '../data/server.ts';
import { hasIdParts, parseFilter } from '../model/session-filter.ts';
import { FailureBanner } from './failure-banner.tsx';
import { SessionTable } from './session-table.tsx';
import { useLiveView } from './use-live-view.ts';

interface SessionsPageProps {
  readonly server: Server;
  readonly onToken: (token: string) => void;
}

export function SessionsPage({ server, onToken }: SessionsPageProps) {
  const [status, setStatus] = useState<SessionStatus | null>(null);
  const [text, setText] = useState('');
  const filter = parseFilter(useDeferredValue(text));
  const metadata = JSON.stringify(filter.metadata);
  const { view, look } = useSessionList(server, status, metadata);
  const sessions = view.sessions.filter((session) => hasIdParts(session.session_id, filter));

  return (
    <main className="sessions-page">
      <h1>Sessions</h1>
      <form className="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          Status
          <select value={status ?? ''} onChange={(event) => setStatus(SESSION_STATUSES.find((known) => known === event.target.value) ?? null)}>
            <option value="">any</option>
            {SESSION_STATUSES.map((known) => (
              <option key={known}>{known}</option>
            ))}
          </select>
        </label>
        <label className="filters-text">
          Id, or metadata as key=value
          <input type="search" value={text} spellCheck={false} onChange={(event) => setText(event.target.value)} />
        </label>
        <output className="filters-count">
          {sessions.length.toLocaleString('en')} {sessions.length === 1 ? 'session' : 'sessions'}
          {view.isComplete ? '' : ', reading…'}
        </output>
      </form>
      {view.failure !== null && <FailureBanner failure={view.failure} onToken={onToken} />}
      <SessionTable sessions={sessions} isComplete={view.isComplete} onSight={look} />
    </main>
  );
}

function useSessionList(server: Server, status: SessionStatus | null, metadata: string) {
  const open = useCallback(() => new SessionList(server, { status, metadata: JSON.parse(metadata) as SessionQuery['metadata'] }), [server, status, metadata]);
  const { view, source: list } = useLiveView(open, UNREAD_LIST);
  const look = useCallback((sight: Sight | null) => list?.look(sight), [list]);
  return { view, look };
}
