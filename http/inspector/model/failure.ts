/** What keeps the page from showing or doing what it was asked for, as it is told to the person. */

export type FailureKind = 'unreachable' | 'token_missing' | 'token_too_narrow' | 'damaged' | 'not_found' | 'refused';

export interface Failure {
  readonly kind: FailureKind;
  /** For a person: what is wrong. */
  readonly text: string;
}

export const UNREACHABLE: Failure = { kind: 'unreachable', text: 'The server does not answer. What is shown is what was read before; the page tries again by itself.' };

/** `body`: the answer as it came, which is Brain's own unless something else answered in its place. */
export function failureOf(status: number, body: unknown): Failure {
  const error = errorIn(body);
  const said = error?.message ?? `the server answered with status ${status}`;
  if (status === 401) return { kind: 'token_missing', text: 'This server needs a token.' };
  if (status === 403) return { kind: 'token_too_narrow', text: `The token is not enough for this: ${said}. The journal of a session needs a token that may manage.` };
  if (status === 404) return { kind: 'not_found', text: 'There is no such session, or it belongs to somebody else.' };
  if (error?.code === 'journal_corrupt') return { kind: 'damaged', text: damageText(error) };
  if (status === 502 || status === 504) return UNREACHABLE;
  return { kind: 'refused', text: `${said}${error === null ? '' : ` (${error.code})`}.` };
}

/** Whether the same can be expected to work later without anybody doing anything here. */
export function mayPass({ kind }: Failure): boolean {
  return kind === 'unreachable' || kind === 'refused';
}

interface WireError {
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

function damageText({ message, details }: WireError): string {
  const { file, offset } = details;
  const place = typeof file === 'string' ? ` In ${file}${typeof offset === 'number' ? `, at byte ${offset}` : ''}.` : '';
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.${place} Other sessions are not concerned.`;
}

function errorIn(body: unknown): WireError | null {
  if (!isObject(body) || !isObject(body['error'])) return null;
  const { code, message, details } = body['error'];
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  return { code, message, details: isObject(details) ? details : {} };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
