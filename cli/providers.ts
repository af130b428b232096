/** The providers of models, from the options, the operator's file and the variables that it names; and who speaks to them. */
import { readFile } from 'node:fs/promises';
import { anthropic } from '../services/models/anthropic-provider.ts';
import { configuredProviders, type ConfiguredProvider } from '../services/models/configured-providers.ts';
import { openAiChat } from '../services/models/openai-chat-provider.ts';
import { openAiResponses } from '../services/models/openai-responses-provider.ts';
import { modelProvider } from '../services/models/provider-call.ts';
import type { ProviderPost } from '../services/models/provider-post.ts';
import { parseProvidersFile, ProvidersFileError } from '../services/models/providers-file.ts';
import type { ServerModelsOptions } from '../services/models/server-models.ts';
import type { Options } from './option-table.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export async function readProviders(options: Options, environment: Environment): Promise<readonly ConfiguredProvider[]> {
  const { providersFile: path } = options;
  const ofFile =
    path === undefined ? [] : parseProvidersFile({ path, text: await textOf(path), variable: (name) => environment[name] });
  return configuredProviders(
    {
      openai: { apiKey: options.openaiApiKey, baseUrl: options.openaiBaseUrl },
      anthropic: { apiKey: options.anthropicApiKey, baseUrl: options.anthropicBaseUrl },
    },
    ofFile,
  );
}

export function providerClients(post: ProviderPost): ServerModelsOptions['clients'] {
  const clients = { 'openai-chat': openAiChat(), 'openai-responses': openAiResponses(), anthropic: anthropic() };
  return {
    'openai-chat': (apiKey) => modelProvider(clients['openai-chat'], { apiKey, post }),
    'openai-responses': (apiKey) => modelProvider(clients['openai-responses'], { apiKey, post }),
    anthropic: (apiKey) => modelProvider(clients.anthropic, { apiKey, post }),
  };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new ProvidersFileError(`the providers file ${path} cannot be read: ${reason}`, { cause: error });
  }
}
