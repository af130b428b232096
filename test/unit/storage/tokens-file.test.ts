import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NodeDisk } from '../../../storage/node-disk.ts';
import { changeTokensFile, tokensFile } from '../../../storage/tokens-file.ts';
import { codeOf, textOf } from '../../support/frames.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';

const PATH = '/data/tokens.json';

function adding(text: string): (bytes: Uint8Array | null) => Uint8Array {
  return (bytes) => Buffer.from(`${bytes === null ? '' : textOf(bytes)}${text}`);
}

describe('the file of tokens', () => {
  let root: string;
  const disk = new NodeDisk();

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'brain-tokens-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  it('is made with the directories above it, for its owner alone', async () => {
    const path = join(root, 'a/b/tokens.json');
    const file = tokensFile(disk, path);
    expect([await file.stamp(), await file.read()]).toEqual([null, null]);

    expect(await changeTokensFile(disk, path, adding('one'))).toBe(true);

    expect(await readFile(path, 'utf8')).toBe('one');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(root, 'a'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(root, 'a/b'))).toEqual(['tokens.json', 'tokens.json.lock']);
  });

  it('has another stamp after each change, by whom and in whichever way it is made', async () => {
    const path = join(root, 'tokens.json');
    const file = tokensFile(disk, path);
    const stamps = new Set([await file.stamp()]);
    for (let round = 0; round < 50; round += 1) {
      await changeTokensFile(disk, path, () => Buffer.from('same'));
      stamps.add(await file.stamp());
    }
    await writeFile(path, 'other, in place');
    stamps.add(await file.stamp());

    expect(stamps.size).toBe(52);
    expect(await file.stamp()).toBe([...stamps].at(-1));
  });

  it('is changed by one at a time: whoever comes meanwhile is told, and changes nothing', async () => {
    const path = join(root, 'tokens.json');
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => changeTokensFile(disk, path, adding(`${index};`))));
    const done = results.flatMap((isDone, index) => (isDone ? [index] : []));

    expect(done.length).toBeGreaterThan(0);
    const lines = (await readFile(path, 'utf8')).split(';').slice(0, -1).map(Number);
    expect(lines.toSorted((a, b) => a - b)).toEqual(done);
  });

  it('stays as it is where the change is refused, and can be changed again', async () => {
    const path = join(root, 'tokens.json');
    await changeTokensFile(disk, path, adding('one'));
    const refused = changeTokensFile(disk, path, () => {
      throw new Error('no such token');
    });

    await expect(refused).rejects.toThrow('no such token');
    expect(await changeTokensFile(disk, path, adding('two'))).toBe(true);
    expect(await readFile(path, 'utf8')).toBe('onetwo');
  });

  it('that is a directory is an error, and not a file that is not there', async () => {
    expect(await codeOf(tokensFile(disk, root).read())).toBe('EISDIR');
  });
});

describe('the file of tokens on a disk that loses power', () => {
  it('is as it was or as it was to be, whenever that happens, and as it was to be once that is answered', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 40 }), fc.infiniteStream(fc.nat()), async (deathAt, choices) => {
        const disk = new SimulatedDisk();
        await changeTokensFile(disk.boot(), PATH, adding('one'));
        const process = disk.boot();
        const begin = disk.callCount;
        disk.plan = ({ number }) => (number - begin > deathAt ? { dies: 'before' } : undefined);
        const changed = await Promise.race([changeTokensFile(process, PATH, adding('two')), process.died.then(() => false)]);
        disk.plan = () => undefined;
        disk.cutPower((count) => (choices.next().value ?? 0) % count);

        const next = disk.boot();
        const found = textOf(disk.contents(PATH) ?? Buffer.from('none'));
        expect(changed ? ['onetwo'] : ['one', 'onetwo']).toContain(found);
        // What was left behind is in nobody's way.
        expect(await changeTokensFile(next, PATH, adding('3'))).toBe(true);
        expect(textOf(disk.contents(PATH) ?? Buffer.alloc(0))).toBe(`${found}3`);
      }),
      { numRuns: 300 },
    );
  });
});
