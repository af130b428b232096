/** What a client of the simulated world asks for, and what became of it. */
import type { KeyedRoute } from '../../services/keyed-call.ts';

export type ReadRoute = 'get' | 'list' | 'events' | 'journal' | 'transcript';

export interface Request {
  readonly number: number;
  readonly route: KeyedRoute | ReadRoute;
  /** Null for a create and a list. */
  readonly sessionId: string | null;
  /** What the session is called in a script. */
  readonly label: string;
  /** The message's text, the name and value of metadata, or how a session is made. */
  readonly body: string;
  readonly key: string | null;
  /** Whether an earlier request had the same key, route and session. */
  readonly isRepeat: boolean;
  /** The process that it was sent to. */
  readonly process: number;
  status: 'pending' | 'answered' | 'refused' | 'lost';
}
