/** What a client of the simulated world asks for, and what became of it. */
import type { KeyedRoute } from '../../services/keyed-call.ts';

export type ReadRoute = 'get' | 'list' | 'events' | 'journal' | 'transcript' | 'waiting' | 'lifecycle';
/** What no repeat of can be told from the first but by what it did. `queue` has a key of its own kind: the message's. */
export type UnkeyedRoute = 'queue' | 'withdraw' | 'interrupt';

/** The first is whoever runs the server. */
export const TENANTS = ['local', 'other'] as const;

export const READS: ReadonlySet<string> = new Set<ReadRoute>(['get', 'list', 'events', 'journal', 'transcript', 'waiting', 'lifecycle']);

export interface Request {
  readonly number: number;
  readonly route: KeyedRoute | ReadRoute | UnkeyedRoute;
  /** Null for a create and a list. */
  readonly sessionId: string | null;
  /** Who asks. */
  readonly tenant: string;
  /** What the session is called in a script. */
  readonly label: string;
  /** The message's text, or for a withdrawal its sequence; the name and value of metadata, or how a session is made. */
  readonly body: string;
  readonly key: string | null;
  /** Whether an earlier request had the same key, route and session. */
  readonly isRepeat: boolean;
  /** The process that it was sent to. */
  readonly process: number;
  status: 'pending' | 'answered' | 'refused' | 'lost';
}

/** A request that is to be made. */
export type Asked = Pick<Request, 'route' | 'tenant' | 'sessionId' | 'label' | 'body' | 'key'>;
