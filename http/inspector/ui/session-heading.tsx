import type { Connection } from '../data/worker-messages.ts';
import type { Moment } from '../model/moment.ts';
import type { RecordRow } from '../model/record-row.ts';
import { StatusPill } from './status-pill.tsx';

interface SessionHeadingProps {
  readonly sessionId: string;
  readonly row: RecordRow | undefined;
  readonly moment: Moment | null;
  readonly connection: Connection;
  readonly isReadOnly: boolean;
}

const CONNECTION_WORDS: Readonly<Record<Connection, string>> = {
  loading: 'reading…',
  live: 'live',
  over: 'complete: nothing more will come',
  failed: 'not connected',
};

/** Which session this is, in which state, and why. */
export function SessionHeading({ sessionId, row, moment, connection, isReadOnly }: SessionHeadingProps) {
  const metadata = Object.entries(moment?.metadata ?? {});
  return (
    <section className="heading" aria-label="The session">
      <h1>
        <span className="visually-hidden">Session {sessionId}, </span>
        <StatusPill status={row?.state ?? 'reading'} />
      </h1>
      <span className="connection" data-connection={connection}>
        {isReadOnly && connection === 'over' ? 'read-only: as it was when the page was loaded' : CONNECTION_WORDS[connection]}
      </span>
      <p className="explanation" title={moment?.explanation ?? undefined}>
        {moment?.explanation ?? ''}
      </p>
      {metadata.length > 0 && (
        <ul className="metadata" aria-label="Metadata">
          {metadata.map(([key, value]) => (
            <li key={key}>
              {key}={value}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
