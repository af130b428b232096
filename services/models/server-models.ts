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
 *   K5. Which models of a provider may be named is asked at create alone, like all that a name stands for.
 */
import type { ResolvedModel } from '../../machines/records.ts';
import { PROVIDER_PROTOCOLS, type ConfiguredProvider, type ProviderProtocol } from './configured-providers.ts';
import { DEMO_MODEL, demoProvider } from './demo-provider.ts';
import type { ModelProvider, ModelRegistry } from './model-provider.ts';

export interface ServerModelsOptions {
  readonly providers: readonly ConfiguredProvider[];
  /** For each protocol, the provider that calls with a key, or without any. */
  readonly clients: Readonly<Record<ProviderProtocol, (apiKey: string | undefined) => ModelProvider>>;
}

export function serverModels({ providers, clients }: ServerModelsOptions): ModelRegistry {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  return {
    resolve: ({ provider, name }) => {
      if (provider === DEMO_MODEL.provider) return name === DEMO_MODEL.name ? DEMO_MODEL : null;
      const configured = byName.get(provider);
      if (configured === undefined || configured.models?.includes(name) === false) return null;
      return { provider, name, protocol: configured.protocol, base_url: configured.base_url };
    },
    provider: (model, credential) => {
      if (model.protocol === DEMO_MODEL.protocol) return demoProvider;
      const configured = byName.get(model.provider);
      const protocol = PROVIDER_PROTOCOLS.find((known) => known === model.protocol);
      if (configured === undefined || protocol === undefined) return null;
      return clients[protocol](credential ?? keyFor(model, configured));
    },
  };
}

function keyFor(model: ResolvedModel, configured: ConfiguredProvider): string | undefined {
  return model.base_url === configured.base_url ? configured.api_key : undefined;
}
