/** `npm run -s token`: what its arguments ask for. Where the file is comes as for the server, from a flag or the environment. */
import { parseArgs } from 'node:util';
import { parseUtcTime } from '../machines/utc-time.ts';
import { SCOPES, type Scope } from '../services/scopes.ts';
import { OPTIONS, shownFallback, tokensPathOf, type Option } from './option-table.ts';

export type TokenCommand =
  | { readonly kind: 'help' }
  | ({ readonly kind: 'create'; readonly path: string } & TokenRequest)
  | { readonly kind: 'list'; readonly path: string; readonly tenant: string | null }
  | { readonly kind: 'revoke'; readonly path: string; readonly id: string };

export interface TokenRequest {
  readonly tenant: string;
  readonly scope: Scope;
  readonly sessionId: string | null;
  /** Epoch milliseconds, or how many of them from now on; null: never. */
  readonly expires: { readonly at: number } | { readonly afterMs: number } | null;
}

/** What is wrong with the arguments, in one line. */
export class TokenCommandError extends Error {
  override readonly name = 'TokenCommandError';
}

export const TOKEN_HELP = `Makes, lists and revokes the tokens of a Brain server, whether it runs or not.

  npm run -s token -- create --tenant NAME --scope read|send|manage [--session ID] [--expires WHEN]
      Prints the new token, which is shown this once. --session: it sees that session only.
      --expires: a duration such as 30d, 12h, 45m or 90s, or a time such as 2027-01-01T00:00:00Z. Default: never.
  npm run -s token -- list [--tenant NAME]
      Shows id, tenant, scope, session, creation and expiry of each token.
  npm run -s token -- revoke ID
      From now on the token counts no more, and what is open with it is closed within seconds.

The file is BRAIN_TOKENS_FILE or --tokens-file, else tokens.json in BRAIN_DATA_DIR or --data-dir.
`;

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const FLAGS = {
  help: { type: 'boolean' },
  tenant: { type: 'string' },
  scope: { type: 'string' },
  session: { type: 'string' },
  expires: { type: 'string' },
  'tokens-file': { type: 'string' },
  'data-dir': { type: 'string' },
} as const;

/** The flags that each command takes besides those that say where the file is. */
const FLAGS_OF: Readonly<Record<'create' | 'list' | 'revoke', readonly string[]>> = {
  create: ['tenant', 'scope', 'session', 'expires'],
  list: ['tenant'],
  revoke: [],
};

/** Throws a `TokenCommandError`. */
export function parseTokenCommand(argv: readonly string[], environment: Readonly<Record<string, string | undefined>>): TokenCommand {
  const { values, positionals } = parsedArguments(argv);
  const [kind, ...rest] = positionals;
  if (values.help === true || kind === undefined) return { kind: 'help' };
  if (kind !== 'create' && kind !== 'list' && kind !== 'revoke') {
    throw new TokenCommandError(`${JSON.stringify(kind)} is no command; there are create, list and revoke, and --help`);
  }
  const misplaced = ['tenant', 'scope', 'session', 'expires'].find((flag) => flag in values && !FLAGS_OF[kind].includes(flag));
  if (misplaced !== undefined) throw new TokenCommandError(`${kind} takes no --${misplaced}`);
  const [id, surplus] = kind === 'revoke' ? rest : [undefined, rest[0]];
  if (surplus !== undefined) throw new TokenCommandError(`${kind} does not take ${JSON.stringify(surplus)}`);
  const path = tokensPathOf({
    tokensFile: settingOf(OPTIONS.tokensFile, values['tokens-file'], environment),
    dataDirectory: settingOf(OPTIONS.dataDirectory, values['data-dir'], environment) ?? shownFallback(OPTIONS.dataDirectory),
  });
  switch (kind) {
    case 'list':
      return { kind, path, tenant: values.tenant ?? null };
    case 'revoke':
      if (id === undefined) throw new TokenCommandError('revoke needs the id of a token, as list shows it');
      return { kind, path, id };
    case 'create':
      return { kind, path, ...requestOf(values) };
  }
}

function parsedArguments(argv: readonly string[]): ReturnType<typeof parseArgs<{ options: typeof FLAGS; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...argv], options: FLAGS, allowPositionals: true });
  } catch (error) {
    // In Node's words, the first sentence of which says what is wrong.
    throw new TokenCommandError((error instanceof Error ? error.message : String(error)).split(/[.\n]/, 1)[0] ?? '');
  }
}

function requestOf(values: { readonly tenant?: string; readonly scope?: string; readonly session?: string; readonly expires?: string }): TokenRequest {
  const { tenant, scope, session, expires } = values;
  if (tenant === undefined) throw new TokenCommandError('create needs --tenant NAME; the tenant of BRAIN_API_KEY is named local');
  const known = SCOPES.find((one) => one === scope);
  if (known === undefined) throw new TokenCommandError(`create needs --scope, which is one of ${SCOPES.join(', ')}`);
  return { tenant, scope: known, sessionId: session ?? null, expires: expires === undefined ? null : expiryOf(expires) };
}

function expiryOf(text: string): TokenRequest['expires'] {
  const [, count, unit = ''] = /^([1-9][0-9]{0,6})([smhd])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  if (count !== undefined && unitMs !== undefined) return { afterMs: Number(count) * unitMs };
  const at = parseUtcTime(text);
  if (at !== null) return { at };
  throw new TokenCommandError(
    `--expires is ${JSON.stringify(text)}: it must be a duration such as 30d, 12h, 45m or 90s, or a time such as 2027-01-01T00:00:00Z`,
  );
}

function settingOf(
  option: Option<string> | Option<string | undefined>,
  flag: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const variable = environment[option.variable];
  const text = flag ?? (variable === '' ? undefined : variable);
  if (text === '') throw new TokenCommandError(`${option.variable} or its flag must be ${option.takes}`);
  return text;
}
