/** Where the page is, as its address says it: the list of sessions, one session, or one moment of it. */

export type Route =
  | { readonly kind: 'sessions' }
  /** `at`: the sequence of the moment; null follows the last record. */
  | { readonly kind: 'session'; readonly sessionId: string; readonly at: number | null };

/** What no route is written like leads to the list. */
export function parseRoute(hash: string): Route {
  const [, sessionId, at] = /^#\/sessions\/([^/]+)(?:\/at\/([1-9][0-9]{0,15}))?$/.exec(hash) ?? [];
  if (sessionId === undefined) return { kind: 'sessions' };
  return { kind: 'session', sessionId: decoded(sessionId), at: at === undefined ? null : Number(at) };
}

export function hashOf(route: Route): string {
  if (route.kind === 'sessions') return '#/';
  const session = `#/sessions/${encodeURIComponent(route.sessionId)}`;
  return route.at === null ? session : `${session}/at/${route.at}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
