/** Calls that carry an idempotency key: what each route's repeat is answered with, and how the caller learns of it. */
import type { KeyedRequest, Surface } from '../machines/records.ts';
import type { SessionView, TurnAnswer, TurnReceipt } from './session-service.ts';

/** What each keyed route answers. Null: that it is done is all there is to say. */
export interface RouteAnswers {
  readonly create: SessionView;
  readonly send: TurnAnswer;
  readonly submit: TurnReceipt;
  readonly cancel: null;
  readonly resume: SessionView;
  readonly end: SessionView;
  readonly close: null;
  readonly change_metadata: SessionView;
  readonly delete: null;
}

export type KeyedRoute = keyof RouteAnswers;

/** One call with its key. Routes, and for messages the modes, are scopes of their own. */
export class KeyedCall<R extends KeyedRoute = KeyedRoute> {
  readonly route: R;
  readonly request: KeyedRequest;
  /** Set where the answer is that of an earlier call with the same key. */
  isReplayed = false;

  /** `body`: SHA-256 of the body's canonical JSON, in hex. The two surfaces are scopes of their own. */
  constructor(route: R, key: string, body: string, surface: Surface = 'v1') {
    this.route = route;
    this.request = { key, route: surface === 'v1' ? route : `${surface}.${route}`, body };
  }
}
