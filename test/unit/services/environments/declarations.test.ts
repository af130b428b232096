import { beforeEach, describe, expect, it } from 'vitest';
import type { Declaration } from '../../../../services/environments/declaration.ts';
import { DECLARED_BYTES_MAX, Declarations, ENVIRONMENTS_MAX } from '../../../../services/environments/declarations.ts';
import { Secrets } from '../../../../services/secrets.ts';
import { StorageError } from '../../../../storage/journal.ts';
import { MemoryTenantFiles } from '../../../../storage/memory-tenant-files.ts';
import { codeOf } from '../../../support/frames.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const STORED = 'sk-canary-"0123456789';
const SERVER = 'sk-server-canary-555';
const LOOK = { name: 'look', description: 'Looks.', input_schema: { type: 'object' } } as const;
const SHOP: Declaration = { driver: 'http', url: 'https://shop.example/brain', tools: [LOOK] };

let files: MemoryTenantFiles;
let clock: SimulatedClock;
let declarations: Declarations;
let stored: readonly string[];
let logged: string[];

beforeEach(() => {
  files = new MemoryTenantFiles();
  clock = new SimulatedClock();
  stored = [];
  logged = [];
  declarations = start();
});

/** As another process would find the files. */
function start(): Declarations {
  const secrets = new Secrets([SERVER]);
  const credentials = {
    learn: async (tenant: string) => {
      if (stored.includes('unreadable')) throw new Error('no key fits');
      for (const value of stored) secrets.hold(tenant, value);
    },
  };
  const log = { debug: () => undefined, info: () => undefined, warn: (event: string) => void logged.push(event), error: () => undefined };
  return new Declarations({ files, credentials, secrets, clock, log });
}

async function refusal(name: string, declaration: Declaration): Promise<{ readonly code: string; readonly field: unknown; readonly message: string }> {
  try {
    await declarations.put('local', name, declaration);
  } catch (error) {
    const { code, details, message } = error as { code: string; details?: { field?: unknown }; message: string };
    return { code, field: details?.field, message };
  }
  throw new Error('it was not refused');
}

describe('a declaration', () => {
  it('is kept with everything that it left out, by name and time, for the next process too', async () => {
    const shop = await declarations.put('local', 'shop', { ...SHOP, url: 'https://SHOP.example/brain/', credential: 'key' });
    const started = clock.now();
    await declarations.put('local', 'laptop', { driver: 'host', configuration: { room: 7 }, tools: [] });
    await declarations.put('local', 'desk', { driver: 'host', host: 'laptop', tools: [{ ...LOOK, effect: 'read', configuration: { a: [1] } }] });

    const times = { created_at: started, updated_at: started };
    const declared = { name: 'shop', driver: 'http', url: 'https://shop.example/brain', credential: 'key', configuration: {}, tools: [{ ...LOOK, effect: 'once' }], ...times };
    expect(shop).toEqual(declared);
    const next = start();
    expect(await next.get('local', 'shop')).toEqual(declared);
    expect(await next.list('local')).toMatchObject([
      { name: 'desk', driver: 'host', host: 'laptop', tools: [{ effect: 'read', configuration: { a: [1] } }] },
      { name: 'laptop', host: 'laptop', configuration: { room: 7 } },
      { name: 'shop' },
    ]);
  });

  it('takes the place of the one before, and keeps when there first was one', async () => {
    const { created_at } = await declarations.put('local', 'shop', SHOP);
    await clock.advance(5_000);

    const again = await declarations.put('local', 'shop', { driver: 'host', tools: [] });

    expect(again).toEqual({ name: 'shop', driver: 'host', host: 'shop', configuration: {}, tools: [], created_at, updated_at: created_at + 5_000 });
    expect(await declarations.list('local')).toEqual([again]);
  });

  it('is its tenant\'s alone, and gone when it is deleted', async () => {
    await declarations.put('local', 'shop', SHOP);

    expect(await declarations.list('other')).toEqual([]);
    expect(await codeOf(declarations.get('other', 'shop'))).toBe('not_found');
    expect(await codeOf(declarations.delete('other', 'shop'))).toBe('not_found');
    await declarations.delete('local', 'shop');
    expect(await codeOf(declarations.get('local', 'shop'))).toBe('not_found');
    expect(await codeOf(declarations.delete('local', 'shop'))).toBe('not_found');
  });

  it.each<[string, Declaration, string]>([
    ['brain', SHOP, '/name'],
    ['shop', { ...SHOP, url: 'ftp://shop.example' }, '/url'],
    ['shop', { ...SHOP, url: 'shop.example' }, '/url'],
    ['shop', { ...SHOP, url: 'https://me:you@shop.example' }, '/url'],
    ['shop', { ...SHOP, url: 'https://shop.example/?a=b' }, '/url'],
    ['shop', { ...SHOP, url: 'https://shop.example/#a' }, '/url'],
    ['shop', { ...SHOP, url: 'https://shop.example/brain?' }, '/url'],
    ['shop', { ...SHOP, url: 'https://shop.example/brain#' }, '/url'],
    ['shop', { ...SHOP, url: 'https://shop.example/br ain' }, '/url'],
    ['shop', { ...SHOP, url: 'https://shop.ex\nample' }, '/url'],
    ['shop', { ...SHOP, url: ' https://shop.example' }, '/url'],
    ['shop', { ...SHOP, url: 'https://shop.example\t' }, '/url'],
    ['shop', { ...SHOP, tools: [LOOK, { ...LOOK, name: 'act' }, LOOK] }, '/tools/2/name'],
    ['shop', { ...SHOP, tools: [LOOK, { ...LOOK, name: 'act', input_schema: { type: 'text' } }] }, '/tools/1/input_schema'],
    ['shop', { ...SHOP, tools: Array.from({ length: 129 }, (_, index) => ({ ...LOOK, name: `look${index}` })) }, '/tools'],
  ])('of %s that cannot be used is refused, and nothing is kept: %j', async (name, declaration, field) => {
    expect(await refusal(name, declaration)).toMatchObject({ code: 'invalid_request', field });
    expect(await files.hasAny()).toBe(false);
  });

  it('has a schema that is refused with the reason', async () => {
    const { message } = await refusal('shop', { ...SHOP, tools: [{ ...LOOK, input_schema: { properties: { a: { type: 'text' } } } }] });
    expect(message).toMatch(/input_schema of look cannot be used: it is no JSON Schema: \/properties\/a\/type must be/);
  });

  const HOLDING = (secret: string): readonly (readonly [string, Declaration, string])[] => [
    ['shop', { ...SHOP, configuration: { a: [{ 'b/c': `token ${secret}` }] } }, '/configuration/a/0/b~1c'],
    ['shop', { ...SHOP, configuration: { [secret]: 1 } }, '/configuration'],
    ['shop', { ...SHOP, configuration: { text: JSON.stringify({ secret }) } }, '/configuration/text'],
    ['shop', { ...SHOP, url: `https://shop.example/${encodeURIComponent(secret)}` }, '/url'],
    ['shop', { ...SHOP, url: `ftp://${secret}` }, '/url'],
    ['shop', { ...SHOP, tools: [{ ...LOOK, description: secret }] }, '/tools/0/description'],
    ['shop', { ...SHOP, tools: [{ ...LOOK, input_schema: { default: secret } }] }, '/tools/0/input_schema/default'],
    ['shop', { ...SHOP, tools: [{ ...LOOK, input_schema: { type: secret } }] }, '/tools/0/input_schema/type'],
    ['shop', { ...SHOP, tools: [{ ...LOOK, configuration: { key: secret } }] }, '/tools/0/configuration/key'],
    [`shop-${secret}`, SHOP, '/name'],
  ];
  it.each([...HOLDING(STORED), ...HOLDING(SERVER)])('of %s that holds a stored credential or a key of the server is refused, and does not repeat it: %j', async (name, declaration, field) => {
    stored = [STORED];

    const refused = await refusal(name, declaration);

    expect(refused).toMatchObject({ code: 'invalid_request', field });
    expect(refused.message).not.toContain('canary');
    expect(await files.hasAny()).toBe(false);
  });

  it('may hold what is a secret of another tenant, and is looked at even where a credential does not open', async () => {
    stored = ['unreadable'];
    await declarations.put('local', 'shop', { ...SHOP, configuration: { a: STORED } });

    expect(logged).toEqual(['credentials_not_known']);
    expect(await refusal('shop', { ...SHOP, configuration: { a: SERVER } })).toMatchObject({ field: '/configuration/a' });
  });

  it('is one of a bounded number, of a bounded size, all together', async () => {
    for (let index = 0; index < ENVIRONMENTS_MAX; index += 1) await declarations.put('local', `e${index}`, { driver: 'host', tools: [] });

    expect(await refusal('one-more', SHOP)).toMatchObject({ code: 'invalid_request', field: '/name' });
    await declarations.put('local', 'e0', SHOP);
    const large = { ...SHOP, configuration: { text: 'x'.repeat(500 * 1024) } };
    for (let index = 0; index < Math.floor(DECLARED_BYTES_MAX / (500 * 1024)); index += 1) await declarations.put('local', `e${index}`, large);
    expect(await refusal('e50', large)).toMatchObject({ code: 'too_large' });
    expect(await refusal('e0', { ...SHOP, configuration: { text: 'x'.repeat(512 * 1024) } })).toMatchObject({ code: 'too_large' });
    expect(await declarations.get('local', 'e50')).toMatchObject({ driver: 'host' });
  });

  it('is not lost to another one that is put at the same time', async () => {
    await Promise.all(['a', 'b', 'c'].map((name) => declarations.put('local', name, SHOP)));
    expect((await declarations.list('local')).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('says that the disk failed, and is not guessed where its file is damaged', async () => {
    files.replace = async () => {
      throw new StorageError('disk_full', 'full');
    };
    expect(await codeOf(declarations.put('local', 'shop', SHOP))).toBe('disk_full');

    const damaged = new MemoryTenantFiles();
    await damaged.replace('local', Buffer.from('{"version":2}'));
    files = damaged;
    const next = start();
    expect([await codeOf(next.list('local')), await codeOf(next.put('local', 'shop', SHOP))]).toEqual(['internal', 'internal']);
    expect(Buffer.from((await damaged.read('local')) ?? []).toString()).toBe('{"version":2}');
  });
});

describe('the names of a create', () => {
  it('stand for what is declared, in their order, without what only the declaration has', async () => {
    await declarations.put('local', 'shop', { ...SHOP, credential: 'key', configuration: { a: 1 } });
    await declarations.put('local', 'laptop', { driver: 'host', tools: [{ ...LOOK, name: 'act', effect: 'idempotent', configuration: { b: 2 } }] });

    expect(await declarations.resolve('local', ['shop', 'laptop'])).toEqual([
      {
        environment: { name: 'shop', driver: 'http', url: 'https://shop.example/brain', credential: 'key', configuration: { a: 1 } },
        tools: [{ ...LOOK, effect: 'once', environment: 'shop' }],
      },
      {
        environment: { name: 'laptop', driver: 'host', host: 'laptop', configuration: {} },
        tools: [{ ...LOOK, name: 'act', effect: 'idempotent', configuration: { b: 2 }, environment: 'laptop' }],
      },
    ]);
    await expect(declarations.resolve('local', ['shop', 'none'])).rejects.toMatchObject({ code: 'unknown_environment', details: { field: '/environments/1' } });
    await expect(declarations.resolve('other', ['shop'])).rejects.toMatchObject({ code: 'unknown_environment', details: { field: '/environments/0' } });
  });

  it('stand for nothing that holds a credential which was stored since', async () => {
    await declarations.put('local', 'shop', { ...SHOP, configuration: { a: STORED } });
    stored = [STORED];

    await expect(declarations.resolve('local', ['shop'])).rejects.toMatchObject({ code: 'invalid_request', details: { field: '/environments/0' } });
  });
});
