/**
 * The port to the network that leads to environments: one request, and what is known of it afterwards. The real one is
 * `http-transport.ts`.
 *
 *   N1. A request is written once. Nothing is sent again, nor anywhere else.
 *   N2. `not_sent` is said where no byte of the request can have left. Whatever else went wrong is `lost`.
 */

/** The largest answer that is read. */
export const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

export interface EnvironmentPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  /** Gives it up, and closes its connection. */
  readonly signal: AbortSignal;
  /** Called at most once, before the first byte is written. */
  readonly onSent: () => void;
}

export type PostOutcome =
  /** `text`: the body of a 200, U+FFFD where it is no UTF-8. That of any other status is not read. */
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  /** `reason`: for an operator, without anything of the request or the answer. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  | { readonly kind: 'lost'; readonly reason: string };

export interface EnvironmentTransport {
  /** Never rejects. */
  post(request: EnvironmentPost): Promise<PostOutcome>;
}
