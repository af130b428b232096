/**
 * What a route takes and what it answers, as data. A route is registered with its contract, checks requests with the
 * schemas in it, and is described by it in the OpenAPI document: there is no second place where a route is written down.
 */
import type { z } from 'zod';
import type { Scope } from '../services/scopes.ts';
import type { ErrorCode } from './wire/answers.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

interface Route {
  /** A name for the route in generated clients. */
  readonly operation: string;
  readonly method: Method;
  /** As OpenAPI writes it: `{name}` is a part that a client chooses. */
  readonly path: `/${string}`;
  /** What it is shown together with. */
  readonly tag: 'Sessions' | 'Turns' | 'History' | 'Session lifecycle' | 'Credentials' | 'Environments' | 'Callbacks' | 'Hosts' | 'Server';
  /** One line: what it does. */
  readonly summary: string;
  /** What a client must know besides. */
  readonly description?: string;
  /** Open filters beside the query's fixed names: `PREFIX` and a key of the client's own. */
  readonly filters?: { readonly prefix: string; readonly schema: z.ZodType; readonly description: string };
  readonly stream?: StreamContract;
  readonly body?: BodyContract;
  /** Whether an `Idempotency-Key` is looked at. */
  readonly isKeyed?: boolean;
  /** Whether `Prefer: respond-async` is looked at. */
  readonly isPreferable?: boolean;
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerContract>>;
  /** What it can refuse a request with, beside what follows from the rest of this contract. */
  readonly refusals: readonly ErrorCode[];
}

/** A route that needs a token. */
export interface GuardedContract extends Route {
  readonly scope: Scope;
  readonly query: z.ZodObject;
  /** It is of no one session, and shows a caller of one session that one alone: other such routes are refused to these. */
  readonly listsSessions?: boolean;
}

/** A route that is open to everybody, and whose query is not looked at. */
export interface OpenContract extends Route {
  readonly scope: null;
}

/** A route whose token says what may be done here, and nothing of who is calling. */
export interface OwnTokenContract extends Route {
  readonly scope: 'own';
  readonly token: OwnToken;
  readonly query: z.ZodObject;
}

/** A kind of token, as the document names it. */
export interface OwnToken {
  readonly scheme: string;
  readonly description: string;
}

export type RouteContract = GuardedContract | OpenContract | OwnTokenContract;

export interface BodyContract {
  readonly schema: z.ZodType;
  /** Nothing at all stands for the empty object. */
  readonly isOptional: boolean;
  readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

export interface AnswerContract {
  readonly description: string;
  /** Of a JSON body; without one and without another type the answer has no body. */
  readonly schema?: z.ZodType;
  readonly example?: unknown;
  /** Of a body that is not JSON. */
  readonly mediaType?: string;
  /** Of a body that is an event stream and never anything else: each type of event, with its data. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
  /** Header by header, what it says. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a route answers who accepts `text/event-stream`. */
export interface StreamContract {
  readonly query: z.ZodObject;
  /** What the `id` of an event looks like, as a pattern. */
  readonly cursor: { readonly pattern: string; readonly example: string };
  readonly description: string;
  /** Of the data of a recorded event, and of one that only passes by. */
  readonly recorded: z.ZodType;
  readonly live: z.ZodType;
  readonly example: string;
}

/** What a create can be refused with, whatever it names. */
export const CREATE_REFUSALS = [
  'idempotency_in_progress',
  'idempotency_ambiguous',
  'draining',
  'journal_corrupt',
  'journal_unavailable',
  'disk_full',
] as const satisfies readonly ErrorCode[];

/** Every code with which a route can refuse a request. */
export function refusalsOf(contract: RouteContract): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(contract.refusals);
  codes.add('internal');
  if (contract.scope !== null) for (const code of ['invalid_request', 'unauthorized'] as const) codes.add(code);
  if (contract.body !== undefined) for (const code of ['too_large', 'unsupported_media_type'] as const) codes.add(code);
  if (queriesOf(contract).some((query) => 'after' in query.shape)) codes.add('invalid_cursor');
  if (contract.scope !== null && contract.scope !== 'own') codes.add('forbidden');
  if (contract.scope !== 'own' && contract.path.includes('{session_id}')) {
    // Whoever comes first after a start finds out how the session's journal stands, and recovers it.
    for (const code of ['not_found', 'journal_corrupt', 'journal_unavailable', 'disk_full'] as const) codes.add(code);
  }
  if (contract.isKeyed === true) codes.add('idempotency_mismatch');
  return [...codes];
}

export function queriesOf(contract: RouteContract): readonly z.ZodObject[] {
  if (contract.scope === null) return [];
  return contract.stream === undefined ? [contract.query] : [contract.query, contract.stream.query];
}
