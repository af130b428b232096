import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { LiveView } from '../data/live-view.ts';

/**
 * What something shows, opened for as long as it is looked at. `open` is a new function where another thing is to be opened,
 * and else the same. `before`: what is shown until it is open, the same object each time.
 */
export function useLiveView<V extends object, S extends LiveView<V>>(open: () => S, before: V): { readonly view: V; readonly source: S | null } {
  const [source, setSource] = useState<S | null>(null);
  useEffect(() => {
    const opened = open();
    setSource(opened);
    return () => opened.close();
  }, [open]);
  const [subscribe, viewOf] = useMemo(() => (source === null ? [() => () => undefined, () => before] : [source.subscribe, source.view]), [source, before]);
  return { view: useSyncExternalStore(subscribe, viewOf), source };
}
