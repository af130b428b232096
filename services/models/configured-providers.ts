/**
 * The providers that a server has besides `demo`: `openai` and `anthropic`, each where a key or an address is configured,
 * and those of the operator's file. A provider of the file stands in the place of one that has its name, with nothing of
 * it left: its key was configured for another address.
 */
import { BASE_URL, parseBaseUrl } from './base-url.ts';

export const PROVIDER_PROTOCOLS = ['openai-chat', 'openai-responses', 'anthropic'] as const;
export type ProviderProtocol = (typeof PROVIDER_PROTOCOLS)[number];

export interface ConfiguredProvider {
  readonly name: string;
  readonly protocol: ProviderProtocol;
  readonly base_url: string;
  readonly api_key?: string;
  /** The names that its models may have; any where it is absent. */
  readonly models?: readonly string[];
}

interface BuiltIn {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
}

/** Throws a one-line error on a bad address. */
export function configuredProviders(
  { openai, anthropic }: { readonly openai: BuiltIn; readonly anthropic: BuiltIn },
  ofFile: readonly ConfiguredProvider[],
): readonly ConfiguredProvider[] {
  const builtIn = [
    ...builtInProvider({ name: 'openai', protocol: 'openai-chat', base_url: 'https://api.openai.com/v1' }, openai),
    ...builtInProvider({ name: 'anthropic', protocol: 'anthropic', base_url: 'https://api.anthropic.com/v1' }, anthropic),
  ];
  return [...builtIn.filter(({ name }) => ofFile.every((provider) => provider.name !== name)), ...ofFile];
}

function builtInProvider(usual: ConfiguredProvider, options: BuiltIn): readonly ConfiguredProvider[] {
  const apiKey = givenOrNothing(options.apiKey);
  const baseUrl = givenOrNothing(options.baseUrl);
  if (apiKey === undefined && baseUrl === undefined) return [];
  const base_url = parseBaseUrl(baseUrl ?? usual.base_url);
  if (base_url === null) throw new Error(`the base URL of the provider ${usual.name} must be ${BASE_URL}`);
  return [{ ...usual, base_url, ...(apiKey === undefined ? {} : { api_key: apiKey }) }];
}

/** An option that is set to nothing is how a shell takes one away. */
function givenOrNothing(option: string | undefined): string | undefined {
  return option === '' ? undefined : option;
}
