/**
 * The vault: what is sealed with the server's own key, AES-256-GCM.
 *
 *   V1. A value is bound to its place. Sealed for one place it opens at no other, so that a file that was copied, renamed
 *       or swapped gives nothing away and is not taken for another.
 *   V2. A key is only ever made where nothing was sealed before: a new one beside old values would lock them in for good.
 *   V3. What is vouched for in one purpose proves nothing in another: each has a key of its own, made of the server's.
 *   V4. No value, and nothing of the key, is in an error.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { VAULT_KEY_BYTES, type VaultKeyFile } from '../storage/vault-key-file.ts';
import type { Random } from './ports.ts';

const CIPHER = 'aes-256-gcm';
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAC_KEY_BYTES = 32;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** Where a sealed value belongs. */
export type VaultPlace =
  | { readonly kind: 'tenant'; readonly tenant: string; readonly name: string }
  | { readonly kind: 'session'; readonly sessionId: string };

export interface VaultParts {
  /** The operator's key; null where the server keeps its own. */
  readonly key: Uint8Array | null;
  readonly keyFile: VaultKeyFile;
  readonly random: Random;
  /** Whether something was sealed before, by whichever process. */
  readonly hasSealed: () => Promise<boolean>;
}

/** A sealed value cannot be had. The message is for the operator's log. */
export class VaultError extends Error {
  override readonly name = 'VaultError';
}

export class Vault {
  readonly #parts: VaultParts;
  #key: Uint8Array | null;
  #finding: Promise<Uint8Array> | null = null;

  private constructor(parts: VaultParts, key: Uint8Array | null) {
    this.#parts = parts;
    this.#key = key;
  }

  /** Rejects, with one line for the operator, where there is a key file that cannot be used. */
  static async open(parts: VaultParts): Promise<Vault> {
    return new Vault(parts, parts.key ?? (await parts.keyFile.read()));
  }

  /** Seals a text for a place. A server without a key makes its own first. */
  async seal(place: VaultPlace, text: string): Promise<Uint8Array> {
    const key = await this.#keyOrNew();
    const nonce = this.#parts.random.bytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(bytesOf(place));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Uint8Array.of(VERSION), nonce, cipher.getAuthTag(), sealed]);
  }

  /** The text that was sealed for this place. Throws a `VaultError` where it does not open. */
  open(place: VaultPlace, sealed: Uint8Array): string {
    if (this.#key === null) throw new VaultError('there are sealed credentials, but no key: restore vault.key, or set BRAIN_VAULT_KEY');
    if (sealed.length < HEADER_BYTES || sealed[0] !== VERSION) throw new VaultError('this is no sealed value of a version that is known');
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(bytesOf(place));
    decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEADER_BYTES));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(HEADER_BYTES)), decipher.final()]).toString('utf8');
    } catch {
      throw new VaultError('a sealed value does not open: it was sealed with another key, belongs to another place, or is damaged');
    }
  }

  /** Vouches for a text in one purpose, the same after every start. A server without a key makes its own first. */
  async mac(purpose: string, text: string): Promise<Uint8Array> {
    return macOf(await this.#keyOrNew(), purpose, text);
  }

  /** Whether that is what it vouches with, compared in constant time. Without a key it vouched for nothing. */
  isMac(purpose: string, text: string, mac: Uint8Array): boolean {
    if (this.#key === null) return false;
    const expected = macOf(this.#key, purpose, text);
    return mac.length === expected.length && timingSafeEqual(mac, expected);
  }

  async #keyOrNew(): Promise<Uint8Array> {
    if (this.#key !== null) return this.#key;
    this.#finding ??= this.#makeKey();
    try {
      this.#key = await this.#finding;
      return this.#key;
    } finally {
      this.#finding = null;
    }
  }

  async #makeKey(): Promise<Uint8Array> {
    const { keyFile, random, hasSealed } = this.#parts;
    // An earlier attempt may have failed after the file was there.
    const found = await keyFile.read();
    if (found !== null) return found;
    if (await hasSealed()) {
      throw new VaultError('there are sealed credentials, but no key: restore vault.key or set BRAIN_VAULT_KEY, or remove the directory credentials');
    }
    const key = random.bytes(VAULT_KEY_BYTES);
    await keyFile.make(key);
    return key;
  }
}

function macOf(serverKey: Uint8Array, purpose: string, text: string): Uint8Array {
  const key = hkdfSync('sha256', serverKey, '', `brain mac ${purpose}`, MAC_KEY_BYTES);
  return createHmac('sha256', Buffer.from(key)).update(text).digest();
}

function bytesOf(place: VaultPlace): Uint8Array {
  const path = place.kind === 'tenant' ? [place.kind, place.tenant, place.name] : [place.kind, place.sessionId];
  return Buffer.from(JSON.stringify(path));
}
