/** What an error of the disk means to whoever asked this layer for something. */
import { AssertionError } from 'node:assert';
import { StorageError } from './journal.ts';

export function isErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code);
}

/** A full disk may get room again and any other failure may pass: both are `try later`, but an operator reads which. */
export function storageFailure(error: unknown, message: string, file?: string): Error {
  if (error instanceof StorageError || error instanceof AssertionError) return error;
  const code = isErrorCode(error, 'ENOSPC', 'EDQUOT') ? 'disk_full' : 'journal_unavailable';
  return new StorageError(code, message, file === undefined ? { cause: error } : { file, cause: error });
}

/** The disk's own word for a file that takes nothing more without saying why. */
export function diskTookNothing(): Error {
  return Object.assign(new Error('the disk took nothing of a write'), { code: 'ENOSPC' });
}
