/** The inspector as the build left it beside this program. */
import type { BuiltPage } from '../http/built-page.ts';
import { isErrorCode } from '../storage/disk-failure.ts';
import type { Disk } from '../storage/disk.ts';
import { readFile } from '../storage/whole-file.ts';

/** Read whole when it is first asked for, and kept. One that is not built is looked for again each time. */
export function builtPage(disk: Disk, directory: string): BuiltPage {
  let reading: Promise<ReadonlyMap<string, Uint8Array> | null> | null = null;
  return {
    async files() {
      reading ??= readPage(disk, directory);
      try {
        const files = await reading;
        if (files === null) reading = null;
        return files;
      } catch (error) {
        reading = null;
        throw error;
      }
    },
  };
}

async function readPage(disk: Disk, directory: string): Promise<ReadonlyMap<string, Uint8Array> | null> {
  try {
    const assets = (await disk.list(`${directory}/assets`)).map((name) => `assets/${name}`);
    const names = ['index.html', ...assets];
    return new Map(await Promise.all(names.map(async (name) => [name, await readFile(disk, `${directory}/${name}`)] as const)));
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
}
