/** What a session's journal takes on the disk. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

export async function journalBytes(dataDirectory: string, sessionId: string): Promise<number> {
  const folder = path.join(dataDirectory, 'sessions', sessionId, 'journal');
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(path.join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
