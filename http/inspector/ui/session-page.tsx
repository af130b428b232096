/** One session: its chart, its journal and its state, at the moment that is looked at. */
import { useCallback, useMemo, useState } from 'react';
import type { Server } from '../data/server.ts';
import { barsOf } from '../model/bars.ts';
import { durationsOf } from '../model/durations.ts';
import type { RecordRow } from '../model/record-row.ts';
import type { Route } from '../model/route.ts';
import { ActionBar } from './action-bar.tsx';
import { ChartPanel } from './chart-panel.tsx';
import { FailureBanner } from './failure-banner.tsx';
import { JournalPanel } from './journal-panel.tsx';
import { RecordPanel } from './record-panel.tsx';
import { SessionHeading } from './session-heading.tsx';
import { StatePanel } from './state-panel.tsx';
import { TimelinePanel } from './timeline-panel.tsx';
import { TimeTravel } from './time-travel.tsx';
import { useSessionFeed } from './use-session-feed.ts';
import { ViewTabs, type ViewName } from './view-tabs.tsx';

interface SessionPageProps {
  readonly sessionId: string;
  /** Null follows the last record. */
  readonly at: number | null;
  readonly token: string | null;
  readonly server: Server;
  readonly go: (route: Route, how?: 'push' | 'replace') => void;
  readonly onToken: (token: string) => void;
}

export function SessionPage({ sessionId, at, token, server, go, onToken }: SessionPageProps) {
  const { view, feed } = useSessionFeed(sessionId, token, at);
  const [shownView, setShownView] = useState<ViewName>('chart');
  const { rows, version } = view;
  const length = rows.length;
  const sequence = Math.min(at ?? length, length);
  // `rows` grows in place: its version says when what is made of it is old.
  const known = useMemo(() => rows.filter((row): row is RecordRow => row !== undefined), [rows, version]);
  const bars = useMemo(() => barsOf(known), [known]);
  const durations = useMemo(() => durationsOf(bars), [bars]);
  const travel = useCallback((to: number | null) => go({ kind: 'session', sessionId, at: to }, 'replace'), [go, sessionId]);
  const shown = view.shown?.sequence === sequence ? view.shown : null;
  // What is shown beside the chart stays until what is wanted is there, and says which moment it is of.
  const moment = view.shown?.folded?.moment ?? null;

  return (
    <main className="session-page" data-view={shownView} data-sequence={sequence} data-settled={shown !== null && shown.folded !== null}>
      <SessionHeading sessionId={sessionId} row={rows[sequence - 1]} moment={moment} connection={view.connection} isReadOnly={view.isReadOnly} />
      {view.failure !== null && <FailureBanner failure={view.failure} onToken={onToken} />}
      {view.refusal !== null && (
        <div className="banner banner-damaged" role="alert">
          <p>The charts of this page cannot follow the journal any further: {view.refusal}. What came before is shown.</p>
        </div>
      )}
      <TimeTravel length={length} sequence={sequence} isFollowing={at === null} foldedThrough={view.foldedThrough} row={rows[sequence - 1]} travel={travel} />
      <ViewTabs shown={shownView} onShow={setShownView} />
      <div className="panels">
        <div className="column column-journal" data-panel="journal">
          <JournalPanel rows={rows} version={version} durations={durations} sequence={sequence} found={view.found} search={(text) => feed?.search(text)} travel={travel} />
          <RecordPanel sequence={sequence} record={shown?.record ?? null} ends={durations.get(sequence) ?? null} travel={travel} />
        </div>
        <div className="column column-chart">
          <ChartPanel rows={rows} version={version} sequence={sequence} />
          <TimelinePanel bars={bars} sequence={sequence} recordedAt={rows[sequence - 1]?.recorded_at ?? null} isFollowing={at === null} travel={travel} />
        </div>
        <div className="column column-state" data-panel="state">
          <ActionBar sessionId={sessionId} server={server} state={rows.at(-1)?.state ?? null} isReadOnly={view.isReadOnly} />
          <StatePanel
            moment={moment}
            changes={view.shown?.folded?.changes ?? null}
            writing={at === null ? view.writing : null}
            isFollowing={at === null}
            travel={travel}
            showMessages={(count) => feed?.showMessages(count)}
          />
        </div>
      </div>
    </main>
  );
}
