import { describe, expect, it } from 'vitest';
import { demoProvider } from '../../../../services/models/demo-provider.ts';
import type { ModelProvider } from '../../../../services/models/model-provider.ts';
import { openAiConfiguration, serverModels } from '../../../../services/models/server-models.ts';

const KEY = 'sk-secret';

/** The server's models, with the keys that calls were made with. */
function models(options: { readonly apiKey?: string; readonly baseUrl?: string }) {
  const keys: (string | undefined)[] = [];
  const chat: ModelProvider = { call: async () => ({ outcome: 'cancelled', code: 'cancelled', message: '' }) };
  const registry = serverModels({
    providers: openAiConfiguration({ apiKey: options.apiKey, baseUrl: options.baseUrl }),
    openAiChat: (key) => {
      keys.push(key);
      return chat;
    },
  });
  return { registry, keys, chat };
}

describe('the models of a server', () => {
  it('have demo/echo always, and nothing else where nothing is configured', () => {
    const { registry } = models({});
    const demo = registry.resolve({ provider: 'demo', name: 'echo' });

    expect(demo).toEqual({ provider: 'demo', name: 'echo', protocol: 'demo' });
    expect(demo === null ? null : registry.provider(demo)).toBe(demoProvider);
    expect(registry.resolve({ provider: 'demo', name: 'other' })).toBeNull();
    expect(registry.resolve({ provider: 'openai', name: 'gpt' })).toBeNull();
    expect(registry.resolve({ provider: 'constructor', name: 'gpt' })).toBeNull();
  });

  it('have openai with a key, at its own address, and record no key', () => {
    const resolved = models({ apiKey: KEY }).registry.resolve({ provider: 'openai', name: 'gpt/x' });

    expect(resolved).toEqual({ provider: 'openai', name: 'gpt/x', protocol: 'openai-chat', base_url: 'https://api.openai.com/v1' });
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
      expect(() => openAiConfiguration({ apiKey: undefined, baseUrl })).toThrow(/^the base URL of a provider must [^\n]+$/);
      expect(() => openAiConfiguration({ apiKey: undefined, baseUrl })).not.toThrow(baseUrl);
    },
  );
});

describe('a key', () => {
  const recorded = { provider: 'openai', name: 'm', protocol: 'openai-chat', base_url: 'http://a.test/v1' };

  it('goes to the address that it is configured for', () => {
    const { registry, keys, chat } = models({ apiKey: KEY, baseUrl: 'http://a.test/v1/' });

    expect(registry.provider(recorded)).toBe(chat);
    expect(keys).toEqual([KEY]);
  });

  it('never goes to an address that a session recorded when another was configured', () => {
    const { registry, keys, chat } = models({ apiKey: KEY, baseUrl: 'http://b.test/v1' });

    expect(registry.provider(recorded)).toBe(chat);
    expect(registry.provider({ ...recorded, base_url: 'http://b.test/v1/x' })).toBe(chat);
    expect(keys).toEqual([undefined, undefined]);
  });

  it('of a session takes the place of the server\'s, at the address that the session recorded and at no other', () => {
    const configured = models({ apiKey: KEY, baseUrl: 'http://a.test/v1' });
    const reconfigured = models({ apiKey: KEY, baseUrl: 'http://b.test/v1' });
    const keyless = models({ baseUrl: 'http://a.test/v1' });

    for (const { registry, keys, chat } of [configured, reconfigured, keyless]) {
      expect(registry.provider(recorded, 'sk-of-the-session')).toBe(chat);
      expect(keys).toEqual(['sk-of-the-session']);
    }
  });

  it('goes nowhere where the provider is not configured any more: the session has no provider', () => {
    const { registry, keys } = models({});

    expect(registry.provider(recorded)).toBeNull();
    expect(keys).toEqual([]);
  });
});
