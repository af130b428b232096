/** What a caller gives. What is wrong with it is said by its name, before anything is sent. */
import type { KeyedOptions } from './transport.ts';

const KEY_BYTES_MAX = 256;

export function assertCallOptions({ signal, timeoutMs, idempotencyKey }: KeyedOptions): void {
  assertSignal(signal);
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs >= 0)) throw new TypeError('timeoutMs must be a number of milliseconds that is 0 or more');
  if (idempotencyKey !== undefined) assertKey(idempotencyKey);
}

export function assertSignal(signal: unknown): void {
  if (signal === undefined) return;
  const isSignal = typeof signal === 'object' && signal !== null && 'aborted' in signal && 'addEventListener' in signal;
  if (!isSignal) throw new TypeError('signal must be an AbortSignal');
}

export function assertRetries(maxRetries: unknown): void {
  const isCount = Number.isSafeInteger(maxRetries) && (maxRetries as number) >= 0;
  if (!isCount) throw new TypeError('maxRetries must be a whole number that is 0 or more');
}

export function assertText(value: unknown, name: string): void {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a text that is not empty`);
}

export function assertList(value: unknown, name: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${name} must be a list`);
}

export function assertObject(value: unknown, name: string): void {
  if (typeof value !== 'object' || value === null) throw new TypeError(`${name} must be an object`);
}

export function assertFunction(value: unknown, name: string): void {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function`);
}

function assertKey(key: unknown): void {
  const isKey = typeof key === 'string' && key !== '' && !/[\0\r\n]/.test(key) && new TextEncoder().encode(key).length <= KEY_BYTES_MAX;
  if (!isKey) throw new TypeError(`idempotencyKey must be a text of 1 to ${KEY_BYTES_MAX} bytes without line breaks`);
}
