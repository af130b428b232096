/** The way out to a model's provider: one request, and the answer to it as it comes. */

export interface ProviderRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Who hears the answer. What a listener throws ends the request. */
export interface AnswerListener {
  /** Aborted, it closes the connection. */
  readonly signal: AbortSignal;
  /** The connection stands: what goes wrong before has not reached the provider. */
  onConnected(): void;
  onStatus(status: number, reason: string): void;
  /** The next piece of the body. Answers whether to go on: a listener that has heard enough waits for no end. */
  onText(text: string): boolean;
}

/** Resolves where the body ended, or the listener had heard enough; rejects whatever else becomes of the request. */
export type ProviderPost = (request: ProviderRequest, listener: AnswerListener) => Promise<void>;
