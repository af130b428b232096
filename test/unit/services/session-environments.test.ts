/** What a session keeps of the environments that its create names. */
import { describe, expect, it } from 'vitest';
import type { SessionCreated } from '../../../machines/records.ts';
import { Credentials } from '../../../services/credentials.ts';
import { Secrets } from '../../../services/secrets.ts';
import { SessionCredentials } from '../../../services/session-credentials.ts';
import type { CreateSession } from '../../../services/session-service.ts';
import { systemRandom } from '../../../services/system.ts';
import { Vault } from '../../../services/vault.ts';
import { MemoryTenantFiles } from '../../../storage/memory-tenant-files.ts';
import { codeOf } from '../../support/frames.ts';
import { DATA, LivingBrain, TENANT } from '../../support/living-brain.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const VALUE = 'sk-canary-0123456789';
const OTHER = 'sk-canary-9876543210';
const BUY = { name: 'buy', description: 'Buys.', input_schema: { type: 'object' }, configuration: { till: 3 } } as const;
const ON_DEMO: CreateSession = { surface: 'v1', model: { provider: 'demo', name: 'echo' } };

async function startWithShop(): Promise<LivingBrain> {
  const brain = await LivingBrain.start();
  await brain.brain.credentials.put(TENANT, 'mine', VALUE);
  await brain.brain.environments.put(TENANT, 'shop', { driver: 'http', url: 'https://shop.example', credential: 'mine', configuration: { room: 7 }, tools: [BUY] });
  await brain.brain.environments.put(TENANT, 'laptop', { driver: 'host', tools: [{ ...BUY, name: 'open' }] });
  return brain;
}

async function createdOf(brain: LivingBrain, sessionId: string): Promise<SessionCreated> {
  const [first] = await brain.journal(sessionId);
  if (first?.type !== 'session_created') throw new Error('a journal begins with its creation');
  return first.data;
}

describe('a session that names environments', () => {
  it('S-157: records what they stood for, their tools with it, and no secret', async () => {
    const brain = await startWithShop();
    const { session_id, environments } = await brain.sessions.create(TENANT, { ...ON_DEMO, environments: ['shop', 'laptop'] });

    expect(environments).toEqual(['shop', 'laptop']);
    expect(await createdOf(brain, session_id)).toMatchObject({
      environments: [
        { name: 'shop', driver: 'http', url: 'https://shop.example', credential: 'mine', configuration: { room: 7 } },
        { name: 'laptop', driver: 'host', host: 'laptop', configuration: {} },
      ],
      tools: [
        { ...BUY, effect: 'once', environment: 'shop' },
        { name: 'open', environment: 'laptop' },
      ],
    });
    const texts = brain.disk.files(DATA).map((path) => Buffer.from(brain.disk.contents(path) ?? []).toString('latin1'));
    expect(texts.filter((text) => text.includes('canary'))).toEqual([]);
  });

  it('gets the tools that it names, of the environments and of the server, or none', async () => {
    const brain = await startWithShop();
    const toolsOf = async (tools: readonly string[]): Promise<readonly string[]> =>
      (await brain.sessions.create(TENANT, { ...ON_DEMO, environments: ['shop', 'laptop'], tools })).tools.map(({ name, environment }) => `${environment}/${name}`);

    expect(await toolsOf(['look', 'open'])).toEqual(['brain/look', 'laptop/open']);
    expect(await toolsOf([])).toEqual([]);
  });

  it('is not moved by what becomes of a declaration, nor by a restart', async () => {
    const brain = await startWithShop();
    const { session_id } = await brain.sessions.create(TENANT, { ...ON_DEMO, environments: ['shop'] });
    const before = await createdOf(brain, session_id);

    await brain.brain.environments.put(TENANT, 'shop', { driver: 'host', tools: [] });
    await brain.brain.environments.delete(TENANT, 'laptop');
    const next = await brain.restart();

    expect(await createdOf(next, session_id)).toEqual(before);
    expect((await next.sessions.get(TENANT, session_id)).tools.map(({ name }) => name)).toEqual(['buy']);
    expect((await next.brain.environments.list(TENANT)).map(({ name, driver }) => [name, driver])).toEqual([['shop', 'host']]);
  });

  it('is not created where one is not declared, or its credential not stored, and nothing is left or sent', async () => {
    const brain = await startWithShop();
    await brain.brain.environments.put(TENANT, 'desk', { driver: 'http', url: 'https://desk.example', credential: 'none', tools: [] });

    for (const [environments, code] of [[['shop', 'nowhere'], 'unknown_environment'], [['shop', 'desk'], 'unknown_credential']] as const) {
      await expect(brain.sessions.create(TENANT, { ...ON_DEMO, environments })).rejects.toMatchObject({ code, details: { field: '/environments/1' } });
    }
    await expect(brain.sessions.create('other', { ...ON_DEMO, environments: ['shop'] })).rejects.toMatchObject({ code: 'unknown_environment' });

    expect(brain.disk.files(`${DATA}/sessions`)).toEqual([]);
    expect(brain.environments.sent.all).toEqual([]);
  });
});

describe("an environment's credential", () => {
  const CREATED = {
    tenant: TENANT,
    model: { provider: 'any', name: 'model', protocol: 'any', credential: 'model' },
    environments: [
      { name: 'shop', driver: 'http', url: 'https://shop.example', credential: 'mine', configuration: {} },
      { name: 'open', driver: 'http', url: 'https://open.example', configuration: {} },
      { name: 'laptop', driver: 'host', host: 'laptop', configuration: {} },
    ],
  } as unknown as SessionCreated;

  interface Stage {
    readonly credentials: Credentials;
    readonly secrets: Secrets;
    readonly session: SessionCredentials;
    readonly sealed: Map<string, Uint8Array>;
  }

  async function stage(): Promise<Stage> {
    const sealed = new Map<string, Uint8Array>();
    const keyFile = { read: async () => null, make: async () => undefined };
    const vault = await Vault.open({ key: new Uint8Array(32), keyFile, random: systemRandom, hasSealed: async () => false });
    const secrets = new Secrets([]);
    const credentials = new Credentials({ files: new MemoryTenantFiles(), vault, secrets, clock: new SimulatedClock() });
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const store = { readSealed: async (id: string) => sealed.get(id) ?? null } as unknown as ConstructorParameters<typeof SessionCredentials>[0]['store'];
    const session = new SessionCredentials({ store, credentials, vault, secrets, log });
    await credentials.put(TENANT, 'model', OTHER);
    await credentials.put(TENANT, 'mine', VALUE);
    sealed.set('s', (await session.sealedFor('s', CREATED)) ?? new Uint8Array());
    return { credentials, secrets, session, sealed };
  }

  it("is the session's own copy, beside the model's, whatever becomes of the tenant's", async () => {
    const { credentials, session } = await stage();
    await credentials.put(TENANT, 'mine', 'sk-another-0123456789');
    await credentials.delete(TENANT, 'model');

    expect(await session.openForEnvironment('s', CREATED, 'shop')).toMatchObject({ kind: 'own', value: VALUE });
    expect((await session.openForTurn('s', CREATED)).key).toEqual({ kind: 'own', value: OTHER });
    for (const name of ['open', 'laptop', 'nowhere']) expect(await session.openForEnvironment('s', CREATED, name)).toMatchObject({ kind: 'none' });
  });

  it('is a secret in use until it is released', async () => {
    const { credentials, secrets, session } = await stage();
    await credentials.delete(TENANT, 'mine');
    expect(secrets.of(TENANT).without(VALUE)).toBe(VALUE);

    const key = await session.openForEnvironment('s', CREATED, 'shop');
    expect(secrets.of(TENANT).without(VALUE)).toBe('[secret removed]');

    key.release();
    expect(secrets.of(TENANT).without(VALUE)).toBe(VALUE);
  });

  it('is unavailable where the copy is missing, of another session, or no header can carry it', async () => {
    const { credentials, session, sealed } = await stage();
    const copy = sealed.get('s') ?? new Uint8Array();
    sealed.set('other', copy);
    await credentials.put(TENANT, 'mine', 'schlüssel-0123456789');
    sealed.set('s', (await session.sealedFor('s', CREATED)) ?? new Uint8Array());

    for (const id of ['s', 'other', 'missing']) {
      const key = await session.openForEnvironment(id, CREATED, 'shop');
      expect(key).toMatchObject({ kind: 'unavailable', reason: expect.stringContaining('mine') as unknown });
      expect(JSON.stringify(key)).not.toContain('0123456789');
    }
    expect(await codeOf(session.sealedFor('s', { ...CREATED, tenant: 'other' }))).toBe('unknown_credential');
  });
});
