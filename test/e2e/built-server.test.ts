/** What the build makes of the server for a quick start. That it serves, every other test here holds. */
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { describe, expect, it } from 'vitest';
import { START_COMMAND } from '../support/server-process.ts';

describe('the built server', () => {
  it('is one file: a start looks for no package but the one with a native part', async () => {
    const built = await readFile(START_COMMAND, 'utf8');
    const imports = [...built.matchAll(/^import (?:[^"';]+ from )?["']([^"']+)["'];$/gm)].map(([, name = '']) => name);

    expect(imports).toContain('node:http');
    const fromElsewhere = imports.filter((name) => !isBuiltin(name) && !name.startsWith('./start/'));
    expect(fromElsewhere).toEqual(['fs-native-extensions']);
  });
});
