/**
 * What the file of tokens says, and how a token is written and recognised.
 *
 *   L1. A token is `brain_`, its id and 256 random bits. The file has the id and the SHA-256 of the whole: bits that nobody
 *       can guess need no salt, and no slow hash.
 *   L2. What is wrong with a file is said without quoting it.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isSessionId } from '../storage/session-id.ts';
import { isName, NAME_IN_WORDS } from './names.ts';
import type { Random } from './ports.ts';
import { SCOPES, type Scope } from './scopes.ts';

const PREFIX = 'brain_';
const ID_BYTES = 6;
const SECRET_BYTES = 32;

/** How a token is written; the first group is its id. */
const TOKEN = `${PREFIX}([0-9a-f]{12})_[A-Za-z0-9_-]{43}`;
const WHOLE_TOKEN = new RegExp(`^${TOKEN}$`);
/** A host's token too: it is in no file, and has a part that is chosen by its host. */
const EVERY_TOKEN = new RegExp(`${TOKEN}|${PREFIX}host_[A-Za-z0-9_.-]+`, 'g');

const tokenSchema = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{12}$/, { error: 'must be 12 lower-case hex digits' }),
  tenant: z.string().refine(isName, { error: `must be ${NAME_IN_WORDS}` }),
  scope: z.enum(SCOPES, { error: `must be one of ${SCOPES.join(', ')}` }),
  /** The only session that the token sees; null: every session of its tenant. */
  session_id: z.string().refine(isSessionId, { error: 'must be the id of a session, 32 lower-case hex digits' }).nullable(),
  /** Epoch milliseconds, as all times here. */
  created_at: z.int(),
  /** From this moment on the token counts no more; null: it does not expire. */
  expires_at: z.int().nullable(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be 64 lower-case hex digits' }),
});

const fileSchema = z.strictObject({ version: z.literal(1), tokens: z.array(tokenSchema) });

export type Token = Readonly<z.infer<typeof tokenSchema>>;

/** What is wrong with the file or with what is to become of it, in one line for the operator. */
export class TokensFileError extends Error {
  override readonly name = 'TokensFileError';
  readonly code = 'tokens_file_invalid';
}

export interface NewToken {
  readonly tenant: string;
  readonly scope: Scope;
  readonly session_id: string | null;
  readonly expires_at: number | null;
}

/** The tokens that a file has; none in a file that is not there. Throws a `TokensFileError`. */
export function parseTokens(bytes: Uint8Array | null): readonly Token[] {
  if (bytes === null) return [];
  const parsed = fileSchema.safeParse(jsonOf(bytes));
  if (!parsed.success) throw new TokensFileError(`the tokens file has a mistake at ${placeOf(parsed.error)}`);
  const { tokens } = parsed.data;
  const ids = new Set<string>();
  for (const { id } of tokens) {
    if (ids.has(id)) throw new TokensFileError(`the tokens file has two tokens with the id ${id}`);
    ids.add(id);
  }
  return tokens;
}

/** A line for each token, for whoever looks into the file or compares two of them. */
export function renderTokens(tokens: readonly Token[]): Uint8Array {
  const lines = tokens.map((token) => `    ${JSON.stringify(token)}`).join(',\n');
  return Buffer.from(`{\n  "version": 1,\n  "tokens": [${lines === '' ? '' : `\n${lines}\n  `}]\n}\n`);
}

/** The list with a new token, and that token's text, which nobody can tell again. Throws a `TokensFileError`. */
export function withNewToken(
  tokens: readonly Token[],
  { tenant, scope, session_id, expires_at }: NewToken,
  { random, now }: { readonly random: Random; readonly now: number },
): { readonly tokens: readonly Token[]; readonly text: string } {
  const id = freshId(tokens, random);
  const text = `${PREFIX}${id}_${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url')}`;
  const token = { id, tenant, scope, session_id, created_at: now, expires_at, sha256: sha256Of(text).toString('hex') };
  const checked = tokenSchema.safeParse(token);
  if (!checked.success) throw new TokensFileError(`no such token can be made: ${placeOf(checked.error)}`);
  return { tokens: [...tokens, token], text };
}

/** The list without a token. Throws a `TokensFileError` where it has none of this id. */
export function withoutToken(tokens: readonly Token[], id: string): readonly Token[] {
  const others = tokens.filter((token) => token.id !== id);
  if (others.length === tokens.length) throw new TokensFileError(`there is no token with the id ${JSON.stringify(id)}`);
  return others;
}

/** The id in a text that is written like a token; null in any other. */
export function tokenIdIn(text: string): string | null {
  return WHOLE_TOKEN.exec(text)?.[1] ?? null;
}

export function sha256Of(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The text with everything in it taken out that is written like a token. */
export function withoutTokens(text: string, instead: string): string {
  return text.includes(PREFIX) ? text.replaceAll(EVERY_TOKEN, instead) : text;
}

function freshId(tokens: readonly Token[], random: Random): string {
  for (;;) {
    const id = Buffer.from(random.bytes(ID_BYTES)).toString('hex');
    if (!tokens.some((token) => token.id === id)) return id;
  }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw new TokensFileError('the tokens file is no JSON');
  }
}

/** Where the first mistake is and, where that is known, what would be right. */
function placeOf(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'some place';
  const place = issue.path.length === 0 ? 'its top' : issue.path.join('.');
  if (issue.code === 'unrecognized_keys') return `${place}, which has a field that is not known`;
  const isInOurWords = issue.code === 'custom' || issue.code === 'invalid_format' || issue.code === 'invalid_value';
  return isInOurWords ? `${place}, which ${issue.message}` : place;
}
