import { beforeEach, describe, expect, it } from 'vitest';
import { DataDirectory } from '../../../storage/data-directory.ts';
import { FileClaimStore } from '../../../storage/file-claim-store.ts';
import { tenantKey } from '../../../storage/tenant-key.ts';
import { codeOf, textOf } from '../../support/frames.ts';
import { flipped } from '../../support/segments.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import { failNext, ROOT, type Logged } from '../../support/stores.ts';

const FILE = `claims/${tenantKey('local')}`;

let disk: SimulatedDisk;
let logged: Logged[];

beforeEach(async () => {
  disk = new SimulatedDisk();
  logged = [];
  const { directory, claims } = await open();
  for (const text of ['first', 'second']) await claims.append('local', Buffer.from(text));
  await claims.append('other', Buffer.from('of another'));
  await directory.close();
});

async function open(): Promise<{ readonly directory: DataDirectory; readonly claims: FileClaimStore }> {
  const log = { warn: (event: string, facts: Readonly<Record<string, unknown>>) => void logged.push({ event, ...facts }) };
  const directory = await DataDirectory.open({ disk: disk.boot(), path: ROOT, log });
  return { directory, claims: new FileClaimStore(directory) };
}

async function load(claims: FileClaimStore, tenant = 'local'): Promise<readonly string[]> {
  return (await claims.load(tenant)).map(textOf);
}

describe('claims in files', () => {
  it('outlive the process', async () => {
    const { claims } = await open();

    expect(await load(claims)).toEqual(['first', 'second']);
  });

  it('lie in a file that does not tell the name of the tenant', () => {
    expect(disk.files(`${ROOT}/claims`)).toEqual([tenantKey('local'), tenantKey('other')].map((key) => `${ROOT}/claims/${key}`).toSorted());
    expect(tenantKey('../local')).toMatch(/^[0-9a-f]{32}$/);
  });

  it('S-171: are refused with file and offset where a byte is not as it was written, and are not written over', async () => {
    disk.damage(`${ROOT}/${FILE}`, (bytes) => flipped(bytes, bytes.length * 8 - 1));
    const before = disk.contents(`${ROOT}/${FILE}`);
    const { claims } = await open();

    await expect(claims.load('local')).rejects.toMatchObject({ code: 'journal_corrupt', file: FILE, offset: 40 + 28 + 'first'.length });
    expect(await codeOf(claims.append('local', Buffer.from('third')))).toBe('journal_corrupt');
    expect(await codeOf(claims.replace('local', []))).toBe('journal_corrupt');
    expect(disk.contents(`${ROOT}/${FILE}`)).toEqual(before);
    expect(await load(claims, 'other')).toEqual(['of another']);
  });

  it('are shown only where they are durable, also after a flush that failed here or before', async () => {
    disk.losesRewrites = true;
    const long = 'x'.repeat(10_000);
    const process = disk.boot();
    const directory = await DataDirectory.open({ disk: process, path: ROOT, log: { warn: () => undefined } });
    const dying = new FileClaimStore(directory);
    await load(dying);
    disk.plan = ({ kind }) => (kind === 'sync' ? { dies: 'before' } : undefined);
    void dying.append('local', Buffer.from(long));
    await process.died;
    disk.plan = () => undefined;

    const { claims } = await open();
    for (let count = 0; count < 2; count += 1) {
      failNext(disk, 'sync', 'EIO');
      expect(await codeOf(load(claims))).toBe('journal_unavailable');
    }
    disk.plan = () => undefined;
    expect(await load(claims)).toEqual(['first', 'second', long]);
    disk.cutPower(() => 0);
    expect(await load((await open()).claims)).toEqual(['first', 'second', long]);
  });

  it('lose an incomplete final write only, which is kept beside and logged', async () => {
    disk.damage(`${ROOT}/${FILE}`, (bytes) => bytes.slice(0, -2));
    const { claims } = await open();

    expect(await load(claims)).toEqual(['first']);

    const offset = 40 + 28 + 'first'.length;
    expect(logged).toContainEqual({ event: 'claims_cut', file: FILE, offset, bytes: 28 + 'second'.length - 2, kept: true });
    expect(disk.contents(`${ROOT}/${FILE}.${offset}.broken`)?.length).toBe(28 + 'second'.length - 2);
    await claims.append('local', Buffer.from('second again'));
    expect(await load(claims)).toEqual(['first', 'second again']);
  });

  it('are another tenant\'s nowhere: a file under the wrong name is refused', async () => {
    const bytes = disk.contents(`${ROOT}/claims/${tenantKey('other')}`) ?? new Uint8Array();
    disk.damage(`${ROOT}/${FILE}`, () => bytes);
    const { claims } = await open();

    expect(await codeOf(claims.load('local'))).toBe('journal_corrupt');
  });

  it('answer that the disk is full, and go on when there is room', async () => {
    const { claims } = await open();
    await load(claims);
    failNext(disk, 'write', 'ENOSPC', 9);

    expect(await codeOf(claims.append('local', Buffer.from('third')))).toBe('disk_full');

    expect(await load(claims)).toEqual(['first', 'second']);
    await claims.append('local', Buffer.from('third'));
    expect(await load(claims)).toEqual(['first', 'second', 'third']);
  });

  it('see a file that was changed behind their back', async () => {
    const { claims } = await open();
    await load(claims);
    disk.damage(`${ROOT}/${FILE}`, (bytes) => bytes.slice(0, 60));

    expect(await codeOf(claims.load('local'))).toBe('journal_corrupt');
  });

  it('are written before the directory is given up, and not after', async () => {
    const { directory, claims } = await open();
    const appended = claims.append('local', Buffer.from('in time'));

    await directory.close();

    await appended;
    expect(await codeOf(claims.append('local', Buffer.from('late')))).toBe('journal_unavailable');
    expect(await load((await open()).claims)).toEqual(['first', 'second', 'in time']);
  });
});
