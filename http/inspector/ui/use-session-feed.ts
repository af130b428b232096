/** A session's feed for as long as the session is looked at, at the moment that is looked at. */
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { SessionFeed, type FeedView } from '../data/session-feed.ts';

const NOT_YET: FeedView = { rows: [], version: 0, foldedThrough: 0, refusal: null, connection: 'loading', isReadOnly: false, failure: null, shown: null, writing: null, found: null };

export function useSessionFeed(sessionId: string, token: string | null, at: number | null): { readonly view: FeedView; readonly feed: SessionFeed | null } {
  const [feed, setFeed] = useState<SessionFeed | null>(null);
  useEffect(() => {
    const opened = new SessionFeed(sessionId, token);
    setFeed(opened);
    return () => opened.close();
  }, [sessionId, token]);
  useEffect(() => feed?.lookAt(at), [feed, at]);
  const [subscribe, viewOf] = useMemo(() => (feed === null ? [() => () => undefined, () => NOT_YET] : [feed.subscribe, feed.view]), [feed]);
  return { view: useSyncExternalStore(subscribe, viewOf), feed };
}
