/** How the values of options are written. Each parser answers null where a text is none of what it takes. */
import { parseBaseUrl } from '../services/models/base-url.ts';
import { parseVaultKey } from '../storage/vault-key-file.ts';

export interface ListenAddress {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
}

/** The text is kept for the search of secrets in what comes from outside. */
export interface VaultKey {
  readonly text: string;
  readonly bytes: Uint8Array;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export function parseListenAddress(text: string): { readonly value: ListenAddress } | null {
  const [, bracketed, plain, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/[\]]+)):([0-9]{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined || Number(port) > 65_535 ? null : { value: { host, port: Number(port) } };
}

export function parseText(text: string): { readonly value: string } | null {
  return text === '' ? null : { value: text };
}

/** What can be sent as a bearer token. */
export function parseKey(text: string): { readonly value: string } | null {
  return /^[\x21-\x7e]+$/.test(text) ? { value: text } : null;
}

export function parseUrl(text: string): { readonly value: string } | null {
  return parseBaseUrl(text) === null ? null : { value: text };
}

/** The same, in one spelling and without a slash at its end: what a path is put behind. */
export function parseAddress(text: string): { readonly value: string } | null {
  const value = parseBaseUrl(text);
  return value === null ? null : { value };
}

export function parseVaultKeyText(text: string): { readonly value: VaultKey } | null {
  const bytes = parseVaultKey(text);
  return bytes === null ? null : { value: { text, bytes } };
}

export function parseLogLevel(text: string): { readonly value: LogLevel } | null {
  return text === 'debug' || text === 'info' || text === 'warn' || text === 'error' ? { value: text } : null;
}

/** `bounds` are of the count as it is written; the value is that many of the unit. */
export function wholeNumber(
  text: string,
  bounds: { readonly min: number; readonly max: number; readonly unit: number },
): { readonly value: number } | null {
  if (!/^[0-9]{1,16}$/.test(text)) return null;
  const count = Number(text);
  return count < bounds.min || count > bounds.max ? null : { value: count * bounds.unit };
}

/** The same, where 0 is no bound: null. */
export function boundOrNone(
  text: string,
  bounds: { readonly max: number; readonly unit: number },
): { readonly value: number | null } | null {
  const number = wholeNumber(text, { ...bounds, min: 0 });
  return number?.value === 0 ? { value: null } : number;
}

export function parseOrigins(text: string): { readonly value: readonly string[] } | null {
  const origins = text.split(',').map((origin) => origin.trim());
  return origins.every(isOrigin) ? { value: [...new Set(origins)] } : null;
}

/** As browsers write it, since it is compared with what they send: they leave out a scheme's own port, for example. */
function isOrigin(text: string): boolean {
  if (/^https?:/i.test(text)) return !text.includes('*') && URL.canParse(text) && new URL(text).origin === text;
  // An extension's or an app's pages have a scheme of their own.
  return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+$/.test(text);
}
