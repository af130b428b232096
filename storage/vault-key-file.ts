/**
 * The file `vault.key`: 32 bytes in base64, which a server makes for itself where its operator gives it no key.
 *
 *   K1. A key that others can read, or that is none, is refused, and never replaced: what was sealed with it would be lost.
 *   K2. A key is durable before anything is sealed with it.
 */
import type { DataDirectory } from './data-directory.ts';
import { isErrorCode, storageFailure } from './disk-failure.ts';
import { StorageError } from './journal.ts';
import { readUpTo, replaceFile } from './whole-file.ts';

export const VAULT_KEY_BYTES = 32;

const KEY_FILE = 'vault.key';
// A key is 44 characters and a line's end; whatever is longer is something else.
const KEY_FILE_BYTES_MAX = 64;
const MODE_OF_OTHERS = 0o077;

/** Where a server's own key is kept. */
export interface VaultKeyFile {
  /** Null where there is none. Rejects where it cannot be used, with one line that says how to mend it. */
  read(): Promise<Uint8Array | null>;
  /** Only where there is none. */
  make(key: Uint8Array): Promise<void>;
}

export function vaultKeyFile(directory: DataDirectory): VaultKeyFile {
  return {
    read: () => directory.using(() => read(directory)),
    make: (key) =>
      directory.using(async () => {
        const bytes = Buffer.from(`${Buffer.from(key).toString('base64')}\n`);
        try {
          await replaceFile(directory.disk, { directory: directory.at('.'), name: KEY_FILE, bytes });
        } catch (error) {
          throw storageFailure(error, `${KEY_FILE} cannot be written`, KEY_FILE);
        }
      }),
  };
}

async function read(directory: DataDirectory): Promise<Uint8Array | null> {
  const path = directory.at(KEY_FILE);
  try {
    const file = await directory.disk.open(path, 'read');
    try {
      if (((await file.mode()) & MODE_OF_OTHERS) !== 0) {
        throw unusable(`${path} can be read by others than its owner; take that away with: chmod 600 ${path}`);
      }
      const text = Buffer.from(await readUpTo(file, 0, KEY_FILE_BYTES_MAX)).toString('latin1');
      const key = parseVaultKey(text.trim());
      if (key === null) throw unusable(`${path} is no vault key (${VAULT_KEY_BYTES} bytes in base64); restore it from a backup`);
      // Whoever made it may have died before its name was durable.
      await directory.disk.syncDirectory(directory.at('.'));
      return key;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return null;
    throw storageFailure(error, `${KEY_FILE} cannot be read`, KEY_FILE);
  }
}

/** Null where the text is no key. */
export function parseVaultKey(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64');
  // What is decoded leniently must also be what would have been encoded: a slip in a key is found here or never.
  return bytes.length === VAULT_KEY_BYTES && bytes.toString('base64') === text ? new Uint8Array(bytes) : null;
}

function unusable(message: string): StorageError {
  return new StorageError('data_directory_unusable', message);
}
