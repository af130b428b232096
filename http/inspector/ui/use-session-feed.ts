/** A session's feed for as long as the session is looked at, at the moment that is looked at. */
import { useCallback, useEffect } from 'react';
import { SessionFeed, UNREAD_FEED, type FeedView } from '../data/session-feed.ts';
import { useLiveView } from './use-live-view.ts';

export function useSessionFeed(sessionId: string, token: string | null, at: number | null): { readonly view: FeedView; readonly feed: SessionFeed | null } {
  const open = useCallback(() => new SessionFeed(sessionId, token), [sessionId, token]);
  const { view, source: feed } = useLiveView(open, UNREAD_FEED);
  useEffect(() => feed?.lookAt(at), [feed, at]);
  return { view, feed };
}
