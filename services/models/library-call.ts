/**
 * A model call through a provider library, which is used at its lowest level, where it neither retries nor runs tools:
 * one call is one request. What differs between the protocols is the client.
 */
import type { ModelDelta, ModelOutcome, ModelProvider, ModelRequest } from './model-provider.ts';
import type { ProviderFetch, ProviderStreamPart } from './provider-library.ts';
import { CANCELLED, outcomeOf } from './provider-outcome.ts';

export interface ProviderSettings {
  /** Goes into the request's authorization. Without one, none is sent. */
  readonly apiKey: string | undefined;
  readonly fetch: ProviderFetch;
}

/** An answer while it comes in. */
export interface StreamedAnswer {
  /** Takes the next part. Throws where the stream says that it failed, or cannot be understood. */
  take(part: ProviderStreamPart): void;
  /** Whether the stream has said its last word, so that nobody has to wait for it to close. */
  readonly isOver: boolean;
  /** What the stream came to, once it is over. */
  outcome(): ModelOutcome;
}

/** One protocol: its requests and its answers. */
export interface LibraryClient {
  /** Makes the request. What it cannot say it throws before it sends anything. */
  open(
    request: ModelRequest,
    connection: { readonly signal: AbortSignal; readonly fetch: ProviderFetch },
  ): Promise<ReadableStream<ProviderStreamPart>>;
  answer(onDelta: (delta: ModelDelta) => void): StreamedAnswer;
}

export function libraryProvider(client: LibraryClient, { apiKey, fetch }: ProviderSettings): ModelProvider {
  return {
    call: async (request, { signal, onDelta }) => {
      if (signal.aborted) return CANCELLED;
      const sending: { isSent: boolean; status: number | null } = { isSent: false, status: null };
      // Whatever ends the call ends the connection: a provider must not go on speaking to nobody.
      const connection = new AbortController();
      const hangUp = (): void => connection.abort();
      signal.addEventListener('abort', hangUp, { once: true });
      try {
        const answer = client.answer(onDelta);
        const stream = await client.open(request, {
          signal: connection.signal,
          fetch: async (input, init) => {
            sending.isSent = true;
            const response = await fetch(input, init);
            sending.status = response.status;
            return response;
          },
        });
        for await (const part of stream) {
          answer.take(part);
          if (answer.isOver) break;
        }
        return answer.outcome();
      } catch (error) {
        return outcomeOf(error, { isCancelled: signal.aborted, apiKey, ...sending });
      } finally {
        signal.removeEventListener('abort', hangUp);
        hangUp();
      }
    },
  };
}
