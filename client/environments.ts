/**
 * Environments that a create brings along. They are declared first and the create names them, so that the same create
 * sends the same body, whatever the address and the secret are, and whichever process it is.
 */
import { segmentOf } from './address.ts';
import { assertList, assertObject, assertText } from './call-arguments.ts';
import type { Tool } from './tool.ts';
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
  /** Those of `tool` can stand here too: what they say is declared, and the server at the address runs its own. */
  readonly tools: readonly EnvironmentTool[];
}

export interface HttpEnvironment extends HttpEnvironmentOptions {
  readonly driver: 'http';
}

/** What a process is told of an operation on an environment of its own. */
export interface HookContext {
  readonly sessionId: string;
  readonly sequence: number;
  readonly environment: string;
  /** What the declaration says of it; empty but at the setup. */
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

export interface HostEnvironmentOptions {
  readonly name: string;
  readonly tools: readonly Tool[];
  /** The name under which this process takes its commands. Default: the client's, else the environment's. */
  readonly host?: string;
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** Before the session is ready. One that throws fails the session. */
  setup?(context: HookContext): unknown;
  /** When the session ends. */
  detach?(context: HookContext): unknown;
  /** When the session is deleted. One that throws keeps it. */
  teardown?(context: HookContext): unknown;
}

export interface HostEnvironment extends HostEnvironmentOptions {
  readonly driver: 'host';
}

export type Environment = HttpEnvironment | HostEnvironment;

/** Tools that a server of your own offers over HTTP. */
export function httpEnv(options: HttpEnvironmentOptions): HttpEnvironment {
  assertEnvironment(options);
  return { driver: 'http', ...options };
}

/** Tools that this process runs. */
export function hostEnv(options: HostEnvironmentOptions): HostEnvironment {
  assertEnvironment(options);
  return { driver: 'host', ...options };
}

function assertEnvironment(options: HttpEnvironmentOptions | HostEnvironmentOptions): void {
  assertObject(options, 'what an environment is');
  assertText(options.name, 'the name of an environment');
  assertList(options.tools, `the tools of the environment ${options.name}`);
}

/** Stores its credential, where it brings one, and then says what it is. */
export async function declareEnvironment(transport: Transport, environment: Environment, options: CallOptions): Promise<void> {
  const credential = environment.driver === 'http' ? environment.credential : undefined;
  if (credential?.value !== undefined) {
    const path = `/v1/credentials/${segmentOf(credential.name)}`;
    await transport.call({ method: 'PUT', path, body: { value: credential.value }, ...options });
  }
  const path = `/v1/environments/${segmentOf(environment.name)}`;
  await transport.call({ method: 'PUT', path, body: declarationOf(environment), ...options });
}

function declarationOf(environment: Environment): object {
  const { driver, configuration, tools } = environment;
  return {
    driver,
    ...(environment.driver === 'http' ? { url: environment.url } : {}),
    ...(environment.driver === 'host' && environment.host !== undefined ? { host: environment.host } : {}),
    ...(environment.driver === 'http' && environment.credential !== undefined ? { credential: environment.credential.name } : {}),
    ...(configuration === undefined ? {} : { configuration }),
    tools: tools.map(({ name, description, inputSchema, effect, configuration: own }) => ({
      name,
      description,
      input_schema: inputSchema,
      ...(effect === undefined ? {} : { effect }),
      ...(own === undefined ? {} : { configuration: own }),
    })),
  };
}
