/**
 * Every option of the server: its name in the environment and as a flag, what it takes, what holds where it is not
 * given, and what it does. The help, the documentation and the parsing are this table.
 *
 * A secret has no flag: the arguments of a process are for everybody on the machine to read.
 */
import type { Retain } from '../machines/records.ts';
import { BASE_URL } from '../services/models/base-url.ts';
import {
  boundOrNone,
  parseAddress,
  parseKey,
  parseListenAddress,
  parseLogLevel,
  parseOrigins,
  parseText,
  parseUrl,
  parseVaultKeyText,
  wholeNumber,
  type ListenAddress,
  type LogLevel,
  type VaultKey,
} from './option-values.ts';

// About 31 years: whoever wants longer wants no bound.
const SECS_MAX = 1_000_000_000;
// The text of a body has to fit into one string of the runtime, twice while it is decoded.
const BODY_BYTES_MAX = 256 * 1024 * 1024;
// The commit that closes a stopped turn holds a record for each message that waits, and nothing else goes on while it is
// put together: a moment for 1,000, some seconds for 10,000.
const QUEUE_MESSAGES_MAX = 1_000;

/** What every option comes to. Durations are milliseconds; null where there is no bound. */
export interface Options {
  readonly listen: ListenAddress;
  readonly dataDirectory: string;
  readonly apiKey: string | undefined;
  /** Undefined: `tokens.json` in the data directory. */
  readonly tokensFile: string | undefined;
  /** Null: the server keeps a key of its own. */
  readonly vaultKey: VaultKey | null;
  readonly providersFile: string | undefined;
  readonly openaiBaseUrl: string | undefined;
  readonly openaiApiKey: string | undefined;
  readonly anthropicBaseUrl: string | undefined;
  readonly anthropicApiKey: string | undefined;
  readonly toolsFile: string | undefined;
  /** Undefined: the address that the server listens on. */
  readonly publicUrl: string | undefined;
  readonly modelCallsMax: number | null;
  readonly turnMsMax: number | null;
  readonly toolMsMax: number | null;
  readonly cancelMs: number;
  readonly runningTurnsMax: number;
  readonly queueMessagesMax: number;
  readonly emittedBytesMax: number;
  readonly bodyBytesMax: number;
  readonly corsOrigins: readonly string[];
  /** Null: released at once. 0: never. */
  readonly retain: Retain;
  readonly drainMs: number | null;
  readonly telemetryFile: string | undefined;
  readonly logLevel: LogLevel;
}

export interface Option<T> {
  readonly variable: string;
  /** As text, parsed like a given one; or what holds where nothing is given. */
  readonly fallback: { readonly text: string } | { readonly value: T; readonly shown: string };
  readonly isSecret: boolean;
  /** What would be right, to be read after "must be". */
  readonly takes: string;
  readonly meaning: string;
  /** Null where the text is none of what it takes. */
  parse(text: string): { readonly value: T } | null;
}

const SECS = {
  takes: `a whole number of seconds from 0 to ${SECS_MAX}`,
  parse: (text: string) => wholeNumber(text, { min: 0, max: SECS_MAX, unit: 1000 }),
} as const;

/** The same, where 0 is no bound. */
const SECS_OR_NO_BOUND = {
  takes: SECS.takes,
  parse: (text: string) => boundOrNone(text, { max: SECS_MAX, unit: 1000 }),
} as const;

export const OPTIONS: { readonly [K in keyof Options]: Option<Options[K]> } = {
  listen: {
    variable: 'BRAIN_LISTEN',
    fallback: { text: '127.0.0.1:8080' },
    isSecret: false,
    takes: 'HOST:PORT, with an IPv6 address in brackets',
    meaning: 'Where the server listens. Port 0 takes any free one, which is printed. Beyond loopback it needs BRAIN_API_KEY.',
    parse: parseListenAddress,
  },
  dataDirectory: {
    variable: 'BRAIN_DATA_DIR',
    fallback: { text: 'brain-data' },
    isSecret: false,
    takes: 'the path of a directory',
    meaning: 'Where the sessions are kept. One server at a time owns it.',
    parse: parseText,
  },
  apiKey: {
    variable: 'BRAIN_API_KEY',
    fallback: { value: undefined, shown: 'unset' },
    isSecret: true,
    takes: 'printable ASCII without spaces, so that it can be sent as a bearer token',
    meaning: 'The token of the tenant `local`. Unset: the server listens on loopback only and asks for none.',
    parse: parseKey,
  },
  tokensFile: {
    variable: 'BRAIN_TOKENS_FILE',
    fallback: { value: undefined, shown: 'the file tokens.json in the data directory' },
    isSecret: false,
    takes: 'the path of a JSON file',
    meaning: 'Where further tokens are kept, as hashes. `npm run -s token` changes it, and the server reads it again when it has changed.',
    parse: parseText,
  },
  vaultKey: {
    variable: 'BRAIN_VAULT_KEY',
    fallback: { value: null, shown: 'the file vault.key in the data directory, made when first needed' },
    isSecret: true,
    takes: '32 bytes in base64, such as `openssl rand -base64 32` prints',
    meaning: 'The key that credentials are sealed with. Another key opens none that are stored already.',
    parse: parseVaultKeyText,
  },
  providersFile: {
    variable: 'BRAIN_PROVIDERS_FILE',
    fallback: { value: undefined, shown: 'unset' },
    isSecret: false,
    takes: 'the path of a JSON file',
    meaning: 'Providers of models, as described below. One named `openai` or `anthropic` stands in the place of the built-in one.',
    parse: parseText,
  },
  openaiBaseUrl: {
    variable: 'BRAIN_OPENAI_BASE_URL',
    fallback: { value: undefined, shown: 'unset' },
    isSecret: false,
    takes: BASE_URL,
    meaning: 'Where the provider `openai` is reached: calls go to `{url}/chat/completions`. Once it is set, the key is optional.',
    parse: parseUrl,
  },
  openaiApiKey: {
    variable: 'OPENAI_API_KEY',
    fallback: { value: undefined, shown: 'unset' },
    isSecret: true,
    takes: 'printable ASCII without spaces',
    meaning: 'The key for the provider `openai`.',
    parse: parseKey,
  },
  anthropicBaseUrl: {
    variable: 'BRAIN_ANTHROPIC_BASE_URL',
    fallback: { value: undefined, shown: 'unset' },
    isSecret: false,
    takes: BASE_URL,
    meaning: 'Where the provider `anthropic` is reached: calls go to `{url}/messages`. Once it is set, the key is optional.',
    parse: parseUrl,
  },
  anthropicApiKey: {
    variable: 'ANTHROPIC_API_KEY',
    fallback: { value: undefined, shown: 'unset' },
    isSecret: true,
    takes: 'printable ASCII without spaces',
    meaning: 'The key for the provider `anthropic`.',
    parse: parseKey,
  },
  toolsFile: {
    variable: 'BRAIN_TOOLS_FILE',
    fallback: { value: undefined, shown: 'unset' },
    isSecret: false,
    takes: 'the path of an ES module',
    meaning: 'Tools that run in the server: a module whose default export lists them. It is code, and is trusted.',
    parse: parseText,
  },
  publicUrl: {
    variable: 'BRAIN_PUBLIC_URL',
    fallback: { value: undefined, shown: 'the address that it listens on' },
    isSecret: false,
    takes: BASE_URL,
    meaning: 'How environments reach this server: what the addresses of their callbacks start with.',
    parse: parseAddress,
  },
  modelCallsMax: {
    variable: 'BRAIN_MAX_MODEL_CALLS',
    fallback: { text: '128' },
    isSecret: false,
    takes: 'a whole number from 0',
    meaning: 'How many model calls one turn may make. 0: no bound.',
    parse: (text) => boundOrNone(text, { max: Number.MAX_SAFE_INTEGER, unit: 1 }),
  },
  turnMsMax: {
    variable: 'BRAIN_MAX_TURN_SECS',
    fallback: { text: '1800' },
    isSecret: false,
    ...SECS_OR_NO_BOUND,
    meaning: 'How long one turn may take before it is cancelled. 0: no bound.',
  },
  toolMsMax: {
    variable: 'BRAIN_MAX_TOOL_SECS',
    fallback: { text: '600' },
    isSecret: false,
    ...SECS_OR_NO_BOUND,
    meaning: 'The deadline of every tool call, and of every setup, detach and teardown of an environment. 0: none.',
  },
  cancelMs: {
    variable: 'BRAIN_CANCEL_SECS',
    fallback: { text: '10' },
    isSecret: false,
    ...SECS,
    meaning: 'How long a turn that is stopped waits for its tools and its model to stop. 0: not at all.',
  },
  runningTurnsMax: {
    variable: 'BRAIN_MAX_RUNNING_TURNS',
    fallback: { text: '64' },
    isSecret: false,
    takes: 'a whole number from 1',
    meaning: 'How many turns run at a time, of all sessions. Further ones wait, and the tenants take turns.',
    parse: (text) => wholeNumber(text, { min: 1, max: Number.MAX_SAFE_INTEGER, unit: 1 }),
  },
  queueMessagesMax: {
    variable: 'BRAIN_QUEUE_MESSAGES',
    fallback: { text: '16' },
    isSecret: false,
    takes: `a whole number from 0 to ${QUEUE_MESSAGES_MAX}`,
    meaning: 'How many messages of one session may wait beside the one that runs. 0: none.',
    parse: (text) => wholeNumber(text, { min: 0, max: QUEUE_MESSAGES_MAX, unit: 1 }),
  },
  emittedBytesMax: {
    variable: 'BRAIN_MAX_EMITTED_BYTES',
    fallback: { text: '1048576' },
    isSecret: false,
    takes: 'a whole number of bytes from 0',
    meaning: 'How much the events that one turn emits may come to, names and payloads together. 0: none may be emitted.',
    parse: (text) => wholeNumber(text, { min: 0, max: Number.MAX_SAFE_INTEGER, unit: 1 }),
  },
  bodyBytesMax: {
    variable: 'BRAIN_MAX_BODY_BYTES',
    fallback: { text: '8388608' },
    isSecret: false,
    takes: `a whole number of bytes from 1 to ${BODY_BYTES_MAX}`,
    meaning: 'How large the body of a request may be.',
    parse: (text) => wholeNumber(text, { min: 1, max: BODY_BYTES_MAX, unit: 1 }),
  },
  corsOrigins: {
    variable: 'BRAIN_CORS_ORIGINS',
    fallback: { value: [], shown: 'none' },
    isSecret: false,
    takes: 'origins such as https://app.example.com, without a path and separated by commas',
    meaning: 'Whose web pages may call this server from a browser.',
    parse: parseOrigins,
  },
  retain: {
    variable: 'BRAIN_SESSION_IDLE_TTL_SECS',
    fallback: { value: null, shown: 'unset' },
    isSecret: false,
    ...SECS,
    meaning: 'How long an idle session stays in memory, where its create says nothing. Unset: released at once. 0: never released.',
  },
  drainMs: {
    variable: 'BRAIN_DRAIN_SECS',
    fallback: { text: '0' },
    isSecret: false,
    ...SECS_OR_NO_BOUND,
    meaning: 'How long a stopping server lets running turns, setups, detaches and teardowns go on before it stops them. 0: until they are over.',
  },
  telemetryFile: {
    variable: 'BRAIN_TELEMETRY_FILE',
    fallback: { value: undefined, shown: 'unset' },
    isSecret: false,
    takes: 'the path of a file',
    meaning: 'Where the telemetry of agent loops is appended, as JSON lines. Unset: only live readers see it.',
    parse: parseText,
  },
  logLevel: {
    variable: 'BRAIN_LOG_LEVEL',
    fallback: { text: 'info' },
    isSecret: false,
    takes: 'debug, info, warn or error',
    meaning: 'The least that is logged, as JSON lines on standard error.',
    parse: parseLogLevel,
  },
};

/** The option's flag; null for a secret. */
export function flagOf(option: Pick<Option<unknown>, 'variable' | 'isSecret'>): string | null {
  return option.isSecret ? null : `--${option.variable.replace(/^BRAIN_/, '').toLowerCase().replaceAll('_', '-')}`;
}

/** What holds where an option is not given, as the help and the documentation show it. */
export function shownFallback(option: Pick<Option<unknown>, 'fallback'>): string {
  return 'text' in option.fallback ? option.fallback.text : option.fallback.shown;
}

/** Where the tokens are kept, under these options. */
export function tokensPathOf({ tokensFile, dataDirectory }: Pick<Options, 'tokensFile' | 'dataDirectory'>): string {
  return tokensFile ?? `${dataDirectory}/tokens.json`;
}
