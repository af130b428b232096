/**
 * The tokens that hosts are given, which no file knows: each says whose it is, and is sealed with a key of the server's.
 *
 *   O1. One process of a host, an incarnation, has a token of its own, which counts after a restart of the server as before.
 *   O2. Of two tokens of one server the later one says a later time, whatever the wall clock does, so that it can be told
 *       which incarnation of a name is the newest.
 *   O3. A token counts no longer than the one of the caller that it was made for, and not after that caller's rights ended.
 *   O4. Tokens are compared in constant time, and none is stored, logged or told.
 *   O5. Those of a tenant that were made or shown last are secrets in use: a process may say its own in what it reports.
 */
import { z } from 'zod';
import type { Issuers } from '../issuers.ts';
import type { Clock } from '../ports.ts';
import type { Secrets } from '../secrets.ts';
import type { Vault } from '../vault.ts';

const PREFIX = 'brain_host_';
const TOKEN = /^brain_host_([A-Za-z0-9_-]{1,2000})\.([A-Za-z0-9_-]{1,100})$/;
const PURPOSE = 'host';
// Each is looked for in all that the tenant's sessions are told. A report brings its own token to the top.
const HELD_MAX = 16;

const claimsSchema = z.strictObject({
  tenant: z.string(),
  host: z.string(),
  incarnation: z.string(),
  /** Epoch milliseconds, and strictly ascending. */
  issued_at: z.int(),
  /** Names the token of the caller that it was made for. */
  issuer: z.string(),
});
type Claims = Readonly<z.infer<typeof claimsSchema>>;

/** One process of a host. */
export interface Incarnation {
  readonly tenant: string;
  readonly host: string;
  readonly incarnation: string;
  readonly issuedAt: number;
}

export interface HostHolder extends Incarnation {
  /** Aborts when the token counts no more; null: it counts as long as the server runs. */
  readonly ended: AbortSignal | null;
}

export interface HostTokensParts {
  readonly vault: Pick<Vault, 'mac' | 'isMac'>;
  readonly issuers: Issuers;
  readonly clock: Pick<Clock, 'now'>;
  readonly secrets: Pick<Secrets, 'hold'>;
}

export class HostTokens {
  readonly #parts: HostTokensParts;
  /** By tenant, the one that was made or shown last at the end: the text, and how it is let go. */
  readonly #held = new Map<string, Map<string, () => void>>();
  #lastIssuedAt = 0;

  constructor(parts: HostTokensParts) {
    this.#parts = parts;
  }

  /** Null where the caller's own token counts no more. */
  async issue(of: Omit<Incarnation, 'issuedAt'>, issuer: string): Promise<{ readonly text: string; readonly incarnation: Incarnation } | null> {
    const found = await this.#parts.issuers.issuerOf(issuer);
    if (found === null) return null;
    const { tenant, host, incarnation } = of;
    const issuedAt = Math.max(this.#parts.clock.now(), this.#lastIssuedAt + 1);
    this.#lastIssuedAt = issuedAt;
    const claims: Claims = { tenant, host, incarnation, issued_at: issuedAt, issuer };
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const seal = await this.#parts.vault.mac(PURPOSE, sealedText(payload, found.fingerprint));
    const text = `${PREFIX}${payload}.${Buffer.from(seal).toString('base64url')}`;
    this.#hold(tenant, text);
    return { text, incarnation: { tenant, host, incarnation, issuedAt } };
  }

  /** Null for what is no token of a host, or one that counts no more. */
  async holderOf(text: string): Promise<HostHolder | null> {
    const [, payload = '', seal = ''] = TOKEN.exec(text) ?? [];
    const claims = claimsIn(payload);
    const issuer = claims === null ? null : await this.#parts.issuers.issuerOf(claims.issuer);
    if (claims === null || issuer === null) return null;
    const { tenant, host, incarnation, issued_at: issuedAt } = claims;
    if (!this.#parts.vault.isMac(PURPOSE, sealedText(payload, issuer.fingerprint), Buffer.from(seal, 'base64url'))) return null;
    if (issuer.tenant !== tenant || issuer.scope === 'read' || issuer.sessionId !== null || issuer.ended?.aborted === true) return null;
    this.learn(issuedAt);
    this.#hold(tenant, text);
    return { tenant, host, incarnation, issuedAt, ended: issuer.ended };
  }

  /** When a token was issued: an earlier process of the server may have had a wall clock that was ahead. */
  learn(issuedAt: number): void {
    this.#lastIssuedAt = Math.max(this.#lastIssuedAt, issuedAt);
  }

  #hold(tenant: string, text: string): void {
    const held = this.#held.get(tenant) ?? new Map<string, () => void>();
    this.#held.set(tenant, held);
    const release = held.get(text) ?? this.#parts.secrets.hold(tenant, text);
    held.delete(text);
    held.set(text, release);
    const [oldest] = held;
    if (held.size <= HELD_MAX || oldest === undefined) return;
    held.delete(oldest[0]);
    oldest[1]();
  }
}

/** Whether a text is written like a token of a host, valid or not. */
export function isHostToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

function claimsIn(payload: string): Claims | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  return claimsSchema.safeParse(value).data ?? null;
}

/** With what the caller's token is made of, and not only its name: a key that was changed has the name of the old one. */
function sealedText(payload: string, fingerprint: string): string {
  return JSON.stringify([payload, fingerprint]);
}
