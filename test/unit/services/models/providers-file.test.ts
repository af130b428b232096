import { describe, expect, it } from 'vitest';
import { parseProvidersFile } from '../../../../services/models/providers-file.ts';

const VARIABLES: Readonly<Record<string, string>> = { A_KEY: 'sk-a', EMPTY_KEY: '', ODD_KEY: 'sk with spaces' };

function parse(file: unknown) {
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  return parseProvidersFile({ path: 'p.json', text, variable: (name) => VARIABLES[name] });
}

function faultsIn(file: unknown): readonly string[] {
  try {
    parse(file);
  } catch (error) {
    return error instanceof Error ? error.message.split('\n') : [];
  }
  return [];
}

const local = { name: 'local', protocol: 'openai-chat', base_url: 'http://127.0.0.1:1/v1' };

describe('a providers file', () => {
  it('has providers with their keys, addresses in one spelling, and the models that they may have', () => {
    const file = {
      providers: [
        local,
        { name: 'openai', protocol: 'openai-responses', base_url: 'HTTPS://api.openai.com/v1/', api_key_env: 'A_KEY', models: ['a', 'b/c'] },
        { name: 'Some.other:one_2', protocol: 'anthropic', base_url: 'https://a.test' },
      ],
    };

    expect(parse(file)).toEqual([
      local,
      { name: 'openai', protocol: 'openai-responses', base_url: 'https://api.openai.com/v1', api_key: 'sk-a', models: ['a', 'b/c'] },
      { name: 'Some.other:one_2', protocol: 'anthropic', base_url: 'https://a.test' },
    ]);
    expect(parse({ providers: [] })).toEqual([]);
  });

  it.each<readonly [string, object, RegExp]>([
    ['no name', { name: undefined }, /^the providers file p\.json: provider number 1, field name: must be /],
    ['the name demo', { name: 'demo' }, /field name: must be .*, and not demo$/],
    ['a name with a slash', { name: 'a/b' }, /provider number 1, field name: must be /],
    ['a protocol that nobody speaks', { protocol: 'smtp' }, /provider local, field protocol: must be one of openai-chat, openai-responses, anthropic$/],
    ['no protocol', { protocol: undefined }, /field protocol: must be one of /],
    ['no address', { base_url: undefined }, /field base_url: must be an http or https URL without a user, a query or a fragment$/],
    ['an address with a password', { base_url: 'http://a:b@c.test' }, /field base_url: must be /],
    ['a key in place of its variable', { api_key_env: 'sk-1234-5' }, /field api_key_env: must be the name of an environment variable$/],
    ['a variable that is not set', { api_key_env: 'NO_KEY' }, /field api_key_env: must name a variable that is set; NO_KEY is not$/],
    ['a variable that is empty', { api_key_env: 'EMPTY_KEY' }, /field api_key_env: must name a variable that is set; EMPTY_KEY is not$/],
    ['a variable with what is no key', { api_key_env: 'ODD_KEY' }, /field api_key_env: must name a variable that holds printable ASCII without spaces; ODD_KEY does not$/],
    ['no models', { models: [] }, /field models: must be a list of one or more names of models$/],
    ['models without names', { models: ['a', ''] }, /field models: must be /],
    ['a field that is none', { api_key: 'sk-secret' }, /field api_key: is none; a provider has name, protocol, base_url, api_key_env, models$/],
  ])('with %s is refused, in one line that says where and what would be right', (_what, more, line) => {
    const faults = faultsIn({ providers: [{ ...local, ...more }] });

    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(line);
    expect(faults[0]).not.toMatch(/sk-|a:b@/);
  });

  it('is told all its faults at once', () => {
    expect(faultsIn({ providers: [local, { ...local, protocol: 'x', base_url: 'y' }, local, 5] })).toEqual([
      'the providers file p.json: provider local, field protocol: must be one of openai-chat, openai-responses, anthropic',
      'the providers file p.json: provider local, field base_url: must be an http or https URL without a user, a query or a fragment',
      'the providers file p.json: provider number 4: must be an object',
      'the providers file p.json: provider local, field name: must be another one, as there is a provider local already',
    ]);
  });

  it.each([['[]'], ['null'], ['{}'], ['{"providers":{}}'], ['{"providers":[],"more":1}']])('that is %s is refused in one line', (text) => {
    expect(faultsIn(text)).toEqual(['the providers file p.json: it must be an object with one field, providers, which is a list']);
  });

  it('that is no JSON is refused in one line that quotes none of it', () => {
    for (const text of ['', '{\n "providers": [\n  { "name": sk-secret }\n ]\n}', '{"providers":[']) {
      const faults = faultsIn(text);

      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatch(/^the providers file p\.json: it is no JSON(?:, from line \d+ on)?$/);
    }
  });
});
