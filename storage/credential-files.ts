/**
 * Sealed files: what a vault made of credentials. This layer knows their places and that they are replaced whole; what is
 * in them is for who holds the key.
 *
 *     sessions/{id}/credentials    a session's own copy; it goes with the session
 *     credentials/{key}            a tenant's
 */
import { makeDirectory, type DataDirectory } from './data-directory.ts';
import { storageFailure } from './disk-failure.ts';
import { WholeTenantFiles, type TenantFiles } from './tenant-files.ts';
import { readFileIfThere, replaceFile } from './whole-file.ts';

/** The tenants' sealed files. */
export interface CredentialFiles extends TenantFiles {
  /** Whether any tenant has a file. */
  hasAny(): Promise<boolean>;
}

const SESSION_FILE = 'credentials';

export class TenantCredentialFiles extends WholeTenantFiles implements CredentialFiles {
  constructor(directory: DataDirectory) {
    super(directory, 'credentials');
  }
}

export async function readSessionFile(directory: DataDirectory, sessionId: string): Promise<Uint8Array | null> {
  const file = `sessions/${sessionId}/${SESSION_FILE}`;
  try {
    return await readFileIfThere(directory.disk, directory.at(file));
  } catch (error) {
    throw storageFailure(error, `session ${sessionId}: its credentials cannot be read`, file);
  }
}

/** Makes the session's directory where it is not there yet: its name becomes durable with the first frame. */
export async function writeSessionFile(directory: DataDirectory, sessionId: string, sealed: Uint8Array): Promise<void> {
  const session = `sessions/${sessionId}`;
  try {
    await makeDirectory(directory.disk, directory.at(session));
    await replaceFile(directory.disk, { directory: directory.at(session), name: SESSION_FILE, bytes: sealed });
  } catch (error) {
    throw storageFailure(error, `session ${sessionId}: its credentials cannot be written`, `${session}/${SESSION_FILE}`);
  }
}
