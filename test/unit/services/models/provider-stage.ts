/** A provider's client on a scripted provider, over real sockets. */
import { expect } from 'vitest';
import type { Message } from '../../../../machines/messages.ts';
import type { ModelDelta, ModelOutcome, ModelRequest } from '../../../../services/models/model-provider.ts';
import { modelProvider } from '../../../../services/models/provider-call.ts';
import { providerConnections } from '../../../../services/models/provider-connections.ts';
import { StreamServer, type StreamAnswer } from '../../../support/stream-server.ts';
import { OPENAI_CHAT, type Protocol } from '../../../support/provider-protocols.ts';

export const API_KEY = 'sk-test-0123456789';

export interface Given {
  readonly signal?: AbortSignal;
  readonly onDelta?: (delta: ModelDelta) => void;
  readonly apiKey?: string | undefined;
}

export class ProviderStage {
  readonly #connections = providerConnections();
  readonly #servers: StreamServer[] = [];
  readonly #protocol: Protocol;

  constructor(protocol: Protocol = OPENAI_CHAT) {
    this.#protocol = protocol;
  }

  /** The network ends, while the servers go on. */
  async disconnect(): Promise<void> {
    await this.#connections.close();
  }

  async close(): Promise<void> {
    for (const server of this.#servers.splice(0)) await server.close();
    await this.#connections.close();
  }

  async serve(answer: StreamAnswer): Promise<StreamServer> {
    const server = await StreamServer.start(() => answer);
    this.#servers.push(server);
    return server;
  }

  async ask(base_url: string, more: Partial<ModelRequest> = {}, given: Given = {}): Promise<ModelOutcome> {
    const apiKey = 'apiKey' in given ? given.apiKey : API_KEY;
    const provider = modelProvider(this.#protocol.client, { apiKey, post: this.#connections.post });
    const { signal = new AbortController().signal, onDelta = () => undefined } = given;
    return await provider.call(requestTo(base_url, more, this.#protocol.name), { signal, onDelta });
  }

  /** One call of a server that answers so. */
  async call(answer: StreamAnswer) {
    const server = await this.serve(answer);
    const deltas: ModelDelta[] = [];
    const outcome = await this.ask(`${server.url}/v1`, {}, { onDelta: (delta) => deltas.push(delta) });
    return { outcome, deltas, requests: () => server.requests.length };
  }

  /** The body of the request that is made. */
  async bodySent(more: Partial<ModelRequest>): Promise<string> {
    const server = await this.serve({ steps: [{ send: this.#protocol.answer('x') }] });
    expect(await this.ask(`${server.url}/v1`, more)).toMatchObject({ outcome: 'ended' });
    await server.close();
    return server.requests[0]?.body ?? '';
  }

  async sent(more: Partial<ModelRequest>): Promise<Record<string, unknown>> {
    return JSON.parse(await this.bodySent(more)) as Record<string, unknown>;
  }
}

export function requestTo(base_url: string, more: Partial<ModelRequest> = {}, protocol = 'openai-chat'): ModelRequest {
  return {
    model: { provider: 'some', name: 'some/model', protocol, base_url },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    tools: [],
    ...more,
  };
}

export function messageOf(outcome: ModelOutcome): Message {
  if (outcome.outcome !== 'ended') throw new Error(`${outcome.outcome}: ${outcome.message}`);
  return outcome.message;
}

/** What came piece by piece, put together by its kind. */
export function joined(deltas: readonly ModelDelta[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [kind, text] of deltas.flatMap((delta) => Object.entries(delta))) texts[kind] = (texts[kind] ?? '') + text;
  return texts;
}
