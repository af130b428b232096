/**
 * Environments that a create brings along. They are declared first and the create names them, so that the same create
 * sends the same body, whatever the address and the secret are.
 */
import { segmentOf } from './address.ts';
import type { CallOptions, Transport } from './transport.ts';

export interface EnvironmentTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** What a second call would do outside: nothing, the same again, or a second time. Default: `once`. */
  readonly effect?: 'read' | 'idempotent' | 'once';
  readonly configuration?: Readonly<Record<string, unknown>>;
}

export interface HttpEnvironmentOptions {
  readonly name: string;
  readonly url: string;
  /** What Brain sends as a bearer token. With a value it is stored first; without one it is there already. */
  readonly credential?: { readonly name: string; readonly value?: string };
  readonly configuration?: Readonly<Record<string, unknown>>;
  readonly tools: readonly EnvironmentTool[];
}

export interface Environment extends HttpEnvironmentOptions {
  readonly driver: 'http';
}

/** Tools that a server of your own offers over HTTP. */
export function httpEnv(options: HttpEnvironmentOptions): Environment {
  return { driver: 'http', ...options };
}

/** Declares those that are no mere names. The answer is all of their names. */
export async function declareEnvironments(
  transport: Transport,
  environments: readonly (string | Environment)[],
  options: CallOptions,
): Promise<readonly string[]> {
  for (const environment of environments) {
    if (typeof environment === 'string') continue;
    const { credential } = environment;
    if (credential?.value !== undefined) {
      const path = `/v1/credentials/${segmentOf(credential.name)}`;
      await transport.call({ method: 'PUT', path, body: { value: credential.value }, ...options });
    }
    const path = `/v1/environments/${segmentOf(environment.name)}`;
    await transport.call({ method: 'PUT', path, body: declarationOf(environment), ...options });
  }
  return environments.map((environment) => (typeof environment === 'string' ? environment : environment.name));
}

function declarationOf({ driver, url, credential, configuration, tools }: Environment): object {
  return {
    driver,
    url,
    ...(credential === undefined ? {} : { credential: credential.name }),
    ...(configuration === undefined ? {} : { configuration }),
    tools: tools.map(({ inputSchema, ...tool }) => ({ ...tool, input_schema: inputSchema })),
  };
}
