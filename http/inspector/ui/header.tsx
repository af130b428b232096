import { hashOf, type Route } from '../model/route.ts';

interface HeaderProps {
  readonly route: Route;
  readonly token: string | null;
  readonly onToken: (token: string | null) => void;
}

export function Header({ route, token, onToken }: HeaderProps) {
  return (
    <header className="header">
      <nav aria-label="Where you are">
        <a className="header-home" href={hashOf({ kind: 'sessions' })}>
          Brain <span>inspector</span>
        </a>
        {route.kind === 'session' && (
          <span className="header-session" title={route.sessionId}>
            {route.sessionId}
          </span>
        )}
      </nav>
      {token !== null && (
        <button type="button" className="quiet" onClick={() => onToken(null)}>
          Forget the token
        </button>
      )}
    </header>
  );
}
