/** The page as a whole: which of its two views is shown, and the token that both read with. */
import { useCallback, useMemo, useState } from 'react';
import { Server } from '../data/server.ts';
import { savedToken, saveToken } from '../data/token-store.ts';
import { Header } from './header.tsx';
import { SessionPage } from './session-page.tsx';
import { SessionsPage } from './sessions-page.tsx';
import { useRoute } from './use-route.ts';

export function App() {
  const { route, go } = useRoute();
  const [token, setToken] = useState(savedToken);
  const server = useMemo(() => new Server(token), [token]);
  const changeToken = useCallback((next: string | null) => {
    saveToken(next);
    setToken(next);
  }, []);

  return (
    <>
      <Header route={route} token={token} onToken={changeToken} />
      {route.kind === 'sessions' ? (
        <SessionsPage server={server} onToken={changeToken} />
      ) : (
        // A session of its own, or another token, is another page: nothing is carried over.
        <SessionPage key={`${route.sessionId} ${token ?? ''}`} sessionId={route.sessionId} at={route.at} token={token} server={server} go={go} onToken={changeToken} />
      )}
    </>
  );
}
