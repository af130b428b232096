/** Whether the page is as narrow as a phone's. Rows of lists need their height before they are drawn. */
import { useSyncExternalStore } from 'react';

const NARROW = '(max-width: 860px)';

export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(NARROW).matches);
}

function subscribe(listener: () => void): () => void {
  const query = matchMedia(NARROW);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}
