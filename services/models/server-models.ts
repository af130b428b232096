/**
 * The models of this server: `demo/echo` always, and those of each provider that the operator configured. The only place
 * that knows the server's keys.
 *
 *   K1. What a name stands for is resolved once, at create: the protocol and the address, never the key.
 *   K2. A call goes to the address that was recorded, whatever the server is configured with by then.
 *   K3. A key of the server goes to the address that it was configured for and to no other. A session that recorded another
 *       address is called without a key: whoever answers there may ask for none, and if they do, the call fails and
 *       nothing leaked. A session's own credential goes to the address that its creation recorded and to no other, in
 *       place of the server's key and never beside it.
 *   K4. A provider that is not configured any more has no models: its sessions' calls fail before anything is sent.
 */
import type { ResolvedModel } from '../../machines/records.ts';
import { DEMO_MODEL, demoProvider } from './demo-provider.ts';
import type { ModelProvider, ModelRegistry } from './model-provider.ts';

/** A provider that speaks chat completions at `{base_url}/chat/completions`. */
export interface ConfiguredProvider {
  readonly name: string;
  readonly base_url: string;
  readonly api_key?: string;
}

export interface ServerModelsOptions {
  readonly providers: readonly ConfiguredProvider[];
  /** The provider that calls with a key, or without any. */
  readonly openAiChat: (apiKey: string | undefined) => ModelProvider;
}

const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** The provider `openai`, where a key or an address is configured. Throws a one-line error on a bad address. */
export function openAiConfiguration(options: {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
}): readonly ConfiguredProvider[] {
  const apiKey = givenOrNothing(options.apiKey);
  const baseUrl = givenOrNothing(options.baseUrl);
  if (apiKey === undefined && baseUrl === undefined) return [];
  const base_url = parseBaseUrl(baseUrl ?? OPENAI_BASE_URL);
  return [{ name: 'openai', base_url, ...(apiKey === undefined ? {} : { api_key: apiKey }) }];
}

export function serverModels({ providers, openAiChat }: ServerModelsOptions): ModelRegistry {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  return {
    resolve: ({ provider, name }) => {
      if (provider === DEMO_MODEL.provider) return name === DEMO_MODEL.name ? DEMO_MODEL : null;
      const configured = byName.get(provider);
      if (configured === undefined) return null;
      return { provider, name, protocol: 'openai-chat', base_url: configured.base_url };
    },
    provider: (model, credential) => {
      if (model.protocol === DEMO_MODEL.protocol) return demoProvider;
      const configured = byName.get(model.provider);
      if (configured === undefined || model.protocol !== 'openai-chat') return null;
      return openAiChat(credential ?? keyFor(model, configured));
    },
  };
}

/** An option that is set to nothing is how a shell takes one away. */
function givenOrNothing(option: string | undefined): string | undefined {
  return option === '' ? undefined : option;
}

function keyFor(model: ResolvedModel, configured: ConfiguredProvider): string | undefined {
  return model.base_url === configured.base_url ? configured.api_key : undefined;
}

/**
 * An address as it is recorded: in one spelling, so that two spellings of it count as one. What a URL can say of a user
 * and a password would be a secret in the journal.
 */
function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Error('the base URL of a provider must be an http or https URL');
  }
  if (url.username !== '' || url.password !== '') throw new Error('the base URL of a provider must not hold a user or a password');
  if (url.search !== '' || url.hash !== '') throw new Error('the base URL of a provider must have neither a query nor a fragment');
  return url.href.replace(/\/+$/, '');
}
