/** The page's address, as its route. */
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { hashOf, parseRoute, type Route } from '../model/route.ts';

/** `go`: `replace` leaves no entry in the history, as for each step of a slider. */
export function useRoute(): { readonly route: Route; readonly go: (route: Route, how?: 'push' | 'replace') => void } {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  const route = useMemo(() => parseRoute(hash), [hash]);
  const go = useCallback((next: Route, how: 'push' | 'replace' = 'push') => {
    if (how === 'push') history.pushState(null, '', hashOf(next));
    else history.replaceState(null, '', hashOf(next));
    // The two above tell nobody.
    dispatchEvent(new HashChangeEvent('hashchange'));
  }, []);
  return { route, go };
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  addEventListener('popstate', listener);
  return () => {
    removeEventListener('hashchange', listener);
    removeEventListener('popstate', listener);
  };
}
