import { describe, expect, it } from 'vitest';
import { configuredProviders, type ConfiguredProvider } from '../../../../services/models/configured-providers.ts';
import { demoProvider } from '../../../../services/models/demo-provider.ts';
import type { ModelProvider } from '../../../../services/models/model-provider.ts';
import { serverModels } from '../../../../services/models/server-models.ts';

const KEY = 'sk-secret';
const NOTHING = { apiKey: undefined, baseUrl: undefined };

/** The server's models, with the keys that calls were made with. */
function models(openai: { readonly apiKey?: string; readonly baseUrl?: string }, ofFile: readonly ConfiguredProvider[] = []) {
  return modelsOf(configuredProviders({ openai: { ...NOTHING, ...openai }, anthropic: NOTHING }, ofFile));
}

function modelsOf(providers: readonly ConfiguredProvider[]) {
  const keys: (string | undefined)[] = [];
  const client = (): ModelProvider => ({ call: async () => ({ outcome: 'cancelled', code: 'cancelled', message: '' }) });
  const [chat, responses, messages] = [client(), client(), client()];
  const keeping = (provider: ModelProvider) => (key: string | undefined) => {
    keys.push(key);
    return provider;
  };
  const registry = serverModels({
    providers,
    clients: { 'openai-chat': keeping(chat), 'openai-responses': keeping(responses), anthropic: keeping(messages) },
  });
  return { registry, keys, chat, responses, messages };
}

describe('the models of a server', () => {
  it('have demo/echo always, and nothing else where nothing is configured', () => {
    const { registry } = models({});
    const demo = registry.resolve({ provider: 'demo', name: 'echo' });

    expect(demo).toEqual({ provider: 'demo', name: 'echo', protocol: 'demo' });
    expect(demo === null ? null : registry.provider(demo)).toBe(demoProvider);
    expect(registry.resolve({ provider: 'demo', name: 'other' })).toBeNull();
    expect(registry.resolve({ provider: 'openai', name: 'gpt' })).toBeNull();
    expect(registry.resolve({ provider: 'anthropic', name: 'claude' })).toBeNull();
    expect(registry.resolve({ provider: 'constructor', name: 'gpt' })).toBeNull();
  });

  it('have openai with a key, at its own address, and record no key', () => {
    const resolved = models({ apiKey: KEY }).registry.resolve({ provider: 'openai', name: 'gpt/x' });

    expect(resolved).toEqual({ provider: 'openai', name: 'gpt/x', protocol: 'openai-chat', base_url: 'https://api.openai.com/v1' });
  });

  it('have anthropic with a key or an address', () => {
    const resolved = (anthropic: object) =>
      modelsOf(configuredProviders({ openai: NOTHING, anthropic: { ...NOTHING, ...anthropic } }, [])).registry.resolve({ provider: 'anthropic', name: 'claude' });

    expect(resolved({ apiKey: KEY })).toEqual({
      provider: 'anthropic',
      name: 'claude',
      protocol: 'anthropic',
      base_url: 'https://api.anthropic.com/v1',
    });
    expect(resolved({ baseUrl: 'http://a.test/x/' })).toMatchObject({ protocol: 'anthropic', base_url: 'http://a.test/x' });
  });

  it('have openai with an address alone, in one spelling', () => {
    const addresses = ['http://LOCALHOST:1234/v1/', 'http://localhost:1234/v1', 'http://localhost:1234/v1//'];

    for (const baseUrl of addresses) {
      expect(models({ baseUrl }).registry.resolve({ provider: 'openai', name: 'm' })?.base_url).toBe('http://localhost:1234/v1');
    }
  });

  it('take an option that is empty for one that is not set', () => {
    expect(models({ apiKey: '', baseUrl: '' }).registry.resolve({ provider: 'openai', name: 'm' })).toBeNull();
  });

  it.each(['localhost:1234', 'ftp://a.test', 'http://user:pass@a.test', 'http://a.test/?key=1', 'http://a.test/#x', 'nonsense'])(
    'refuse %s as an address, in one line that does not repeat it',
    (baseUrl) => {
      expect(() => models({ baseUrl })).toThrow(/^the base URL of the provider openai must be [^\n]+$/);
      expect(() => models({ baseUrl })).not.toThrow(baseUrl);
    },
  );

  it('have those of the file, each over its protocol, and only the names that it allows', () => {
    const { registry, responses, messages } = models({}, [
      { name: 'a', protocol: 'openai-responses', base_url: 'http://a.test', models: ['m/1', 'm/2'] },
      { name: 'b', protocol: 'anthropic', base_url: 'http://b.test' },
    ]);
    const [first, second] = [registry.resolve({ provider: 'a', name: 'm/2' }), registry.resolve({ provider: 'b', name: 'any' })];

    expect(first).toEqual({ provider: 'a', name: 'm/2', protocol: 'openai-responses', base_url: 'http://a.test' });
    expect(first === null ? null : registry.provider(first)).toBe(responses);
    expect(second === null ? null : registry.provider(second)).toBe(messages);
    expect(registry.resolve({ provider: 'a', name: 'm' })).toBeNull();
  });

  it('leave a session the protocol and the name that it was created with', () => {
    const recorded = { provider: 'openai', name: 'old', protocol: 'openai-chat', base_url: 'http://a.test/v1' };
    const { registry, chat } = models({}, [{ name: 'openai', protocol: 'openai-responses', base_url: 'http://a.test/v1', models: ['new'] }]);

    expect(registry.provider(recorded)).toBe(chat);
    expect(registry.provider({ ...recorded, protocol: 'other' })).toBeNull();
  });
});

describe('a key', () => {
  const recorded = { provider: 'openai', name: 'm', protocol: 'openai-chat', base_url: 'http://a.test/v1' };

  it('goes to the address that it is configured for', () => {
    const { registry, keys, chat } = models({ apiKey: KEY, baseUrl: 'http://a.test/v1/' });

    expect(registry.provider(recorded)).toBe(chat);
    expect(keys).toEqual([KEY]);
  });

  it('gives way to the credential of a session', () => {
    const { registry, keys } = models({ apiKey: KEY, baseUrl: 'http://a.test/v1/' });
    registry.provider(recorded, 'sk-of-the-session');

    expect(keys).toEqual(['sk-of-the-session']);
  });

  it('never goes to an address that a session recorded when another was configured', () => {
    const { registry, keys, chat } = models({ apiKey: KEY, baseUrl: 'http://b.test/v1' });

    expect(registry.provider(recorded)).toBe(chat);
    expect(registry.provider({ ...recorded, base_url: 'http://b.test/v1/x' })).toBe(chat);
    expect(keys).toEqual([undefined, undefined]);
  });

  it('never goes to the address that the file has in its place', () => {
    const { registry, keys, chat } = models({ apiKey: KEY }, [{ name: 'openai', protocol: 'openai-chat', base_url: 'http://a.test/v1' }]);

    expect(registry.provider(recorded)).toBe(chat);
    expect(keys).toEqual([undefined]);
  });

  it('goes nowhere where the provider is not configured any more: the session has no provider', () => {
    const { registry, keys } = models({});

    expect(registry.provider(recorded)).toBeNull();
    expect(keys).toEqual([]);
  });
});
