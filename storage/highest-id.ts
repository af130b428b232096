/**
 * The highest id that a removed session had. Ids ascend by creation; without it, the clock set back after the newest
 * session was removed would bring an id below one that was issued.
 *
 *   H1. While the session lies in the trash its name there tells the id; before it is removed from there, the file
 *       `highest-id` does.
 */
import { basename } from 'node:path';
import type { DataDirectory } from './data-directory.ts';
import { isErrorCode } from './disk-failure.ts';
import { isSessionId } from './session-id.ts';
import { readFile, replaceFile } from './whole-file.ts';

const NAME = 'highest-id';

/** The empty text where no session was removed. */
export async function readHighestRemovedId(directory: DataDirectory): Promise<string> {
  const trashed = (await directory.disk.list(directory.at('trash'))).map(idOf);
  return [...trashed, await readRemembered(directory)].toSorted().at(-1) ?? '';
}

/** Keeps the id of what is about to leave the trash, where no other file tells of one as high. Durable when it resolves. */
export async function rememberId(directory: DataDirectory, trashed: string): Promise<void> {
  const id = idOf(basename(trashed));
  if (id === '' || id <= (await readRemembered(directory))) return;
  await replaceFile(directory.disk, { directory: directory.at('.'), name: NAME, bytes: new TextEncoder().encode(id) });
}

async function readRemembered(directory: DataDirectory): Promise<string> {
  try {
    return idOf(new TextDecoder().decode(await readFile(directory.disk, directory.at(NAME))));
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return '';
    throw error;
  }
}

/** The session's id that a name begins with; the empty text where it begins with none. */
function idOf(name: string): string {
  const id = name.slice(0, 32);
  return isSessionId(id) ? id : '';
}
