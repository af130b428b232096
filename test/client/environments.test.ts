/** Environments that a create brings along. */
import { describe, expect, it } from 'vitest';
import { Brain, httpEnv } from '../../client/index.ts';
import { LivingServer } from '../support/living-server.ts';
import { calling, saying, ScriptedModel } from '../support/scripted-model.ts';
import { json, lost, refusal, ScriptedFetch, SESSION, type SentRequest } from '../support/scripted-fetch.ts';

const SECRET = 'sk-of-the-shop';

function shop(url = 'https://tools.example/brain'): ReturnType<typeof httpEnv> {
  return httpEnv({
    name: 'shop',
    url,
    credential: { name: 'shop-key', value: SECRET },
    tools: [{ name: 'order', description: 'Orders.', inputSchema: { type: 'object' }, effect: 'once' }],
  });
}

function isCreate({ method, path }: SentRequest): boolean {
  return method === 'POST' && path === '/v1/sessions';
}

describe('a create with an environment', () => {
  it('stores the credential, declares the environment, and then creates with names', async () => {
    const network = new ScriptedFetch(() => json(SESSION, 201));
    await new Brain({ fetch: network.fetch }).sessions.create({ environments: [shop(), 'warehouse'], tools: ['order'], idleTtlMs: null });

    expect(network.sent.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['PUT', '/v1/credentials/shop-key', { value: SECRET }],
      [
        'PUT',
        '/v1/environments/shop',
        {
          driver: 'http',
          url: 'https://tools.example/brain',
          credential: 'shop-key',
          tools: [{ name: 'order', description: 'Orders.', effect: 'once', input_schema: { type: 'object' } }],
        },
      ],
      ['POST', '/v1/sessions', { environments: ['shop', 'warehouse'], tools: ['order'], idle_ttl_ms: null }],
    ]);
  });

  it('S-158: sends the same body under the same key when it is repeated, wherever the environment is by then', async () => {
    let creates = 0;
    const network = new ScriptedFetch((request) => (isCreate(request) && (creates += 1) === 1 ? lost() : json(SESSION, 201)));
    const brain = new Brain({ fetch: network.fetch });

    const failure = await brain.sessions.create({ environments: [shop()] }).catch((error: unknown) => error as { readonly idempotencyKey: string });
    await brain.sessions.create({ environments: [shop('https://moved.example')] }, { idempotencyKey: (failure as { readonly idempotencyKey: string }).idempotencyKey });

    const [first, second] = network.sent.filter(isCreate);
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers.get('Idempotency-Key')).toBe(first?.headers.get('Idempotency-Key'));
    expect(JSON.stringify(first?.body)).not.toMatch(new RegExp(`${SECRET}|https?:`));
  });

  it('creates nothing where a declaration is refused', async () => {
    const network = new ScriptedFetch(({ path }) => (path.startsWith('/v1/environments') ? refusal('forbidden', 403) : json({})));

    await expect(new Brain({ fetch: network.fetch }).sessions.create({ environments: [shop()] })).rejects.toMatchObject({ code: 'forbidden' });
    expect(network.lines).toEqual(['PUT /v1/credentials/shop-key', 'PUT /v1/environments/shop']);
  });

  it('stores nothing for a credential that is there already', async () => {
    const network = new ScriptedFetch(() => json(SESSION, 201));
    await new Brain({ fetch: network.fetch }).sessions.create({ environments: [httpEnv({ name: 'shop', url: 'https://tools.example', credential: { name: 'shop-key' }, tools: [] })] });

    expect(network.lines).toEqual(['PUT /v1/environments/shop', 'POST /v1/sessions']);
  });

  it('has its tools called there, and says the same again when it is repeated', async () => {
    const server = await LivingServer.open({ model: new ScriptedModel((_, index) => (index === 0 ? calling({ tool: 'order' }) : saying('ordered'))) });
    try {
      const { environments } = server.living;
      const brain = new Brain(server.url);
      const session = await brain.sessions.create({ environments: [shop()] }, { idempotencyKey: 'one' });
      const again = await brain.sessions.create({ environments: [shop()] }, { idempotencyKey: 'one' });

      expect((await session.send('order')).result?.text).toBe('ordered');
      expect(again.id).toBe(session.id);
      expect(session.info).toMatchObject({ environments: ['shop'], tools: ['order'] });
      expect(environments.asked).toEqual(['setup shop', 'invoke shop']);
      expect((await session.end()).status).toBe('ended');
      await session.delete();
      expect(environments.asked).toEqual(['setup shop', 'invoke shop', 'detach shop', 'teardown shop']);
    } finally {
      await server.close();
    }
  });
});
