import { describe, expect, it } from 'vitest';
import type { ResolvedDeclaration } from '../../../services/environments/declarations.ts';
import { toolsNamed, toolsOf } from '../../../services/session-tools.ts';
import { serverTools } from '../../../services/tools/server-tools.ts';
import type { Tool } from '../../../services/tools/tool.ts';

const registry = serverTools({ demo: [own('add')], file: [own('look'), own('secret', ['acme'])] });

function own(name: string, tenants?: readonly string[]): Tool {
  return { name, description: `own ${name}`, input_schema: { type: 'object' }, effect: 'read', ...(tenants === undefined ? {} : { tenants }), run: async () => null };
}

function declared(name: string, tools: readonly string[]): ResolvedDeclaration {
  return {
    environment: { name, driver: 'host', host: name, configuration: {} },
    tools: tools.map((tool) => ({ name: tool, description: 'd', input_schema: {}, effect: 'once', environment: name, configuration: { of: name } })),
  };
}

function many(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

function named(names: readonly string[], environments: readonly ResolvedDeclaration[] = [], tenant = 'local'): readonly string[] {
  return toolsNamed(names, { tenant, declared: environments, registry }).map(({ name, environment }) => `${environment}/${name}`);
}

function refusalOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    const { code, details } = error as { readonly code: string; readonly details: { readonly field: string } };
    return [code, details.field];
  }
}

describe('the tools of a create that names none', () => {
  it('are all those of its environments, with what each of them is told', () => {
    expect(toolsOf([declared('shop', ['buy', 'sell']), declared('laptop', ['look'])])).toMatchObject([
      { name: 'buy', environment: 'shop', effect: 'once', configuration: { of: 'shop' } },
      { name: 'sell', environment: 'shop' },
      { name: 'look', environment: 'laptop', configuration: { of: 'laptop' } },
    ]);
    expect(toolsOf([])).toEqual([]);
  });

  it('are refused where two environments offer one name', () => {
    expect(refusalOf(() => toolsOf([declared('shop', ['buy']), declared('desk', []), declared('laptop', ['look', 'buy'])]))).toEqual(['invalid_request', '/environments/2']);
  });

  it('are 128 at most, of all environments together (L-031)', () => {
    expect(toolsOf([declared('a', many('a', 100)), declared('b', many('b', 28))])).toHaveLength(128);
    expect(refusalOf(() => toolsOf([declared('a', many('a', 100)), declared('b', many('b', 29))]))).toEqual(['invalid_request', '/environments/1']);
  });
});

describe('the tools that a create names', () => {
  it('are those of its environments and of the server, in its order, and no other', () => {
    expect(named(['look', 'sell', 'add'], [declared('shop', ['buy', 'sell'])])).toEqual(['brain/look', 'shop/sell', 'brain/add']);
    expect(named([], [declared('shop', ['buy'])])).toEqual([]);
    expect(refusalOf(() => named(['look', 'buy']))).toEqual(['unknown_tool', '/tools/1']);
  });

  it('are refused where two offer one of these names, and not where two offer another', () => {
    const both = [declared('shop', ['buy', 'count']), declared('desk', ['count', 'look'])];
    expect(named(['buy'], both)).toEqual(['shop/buy']);
    expect(refusalOf(() => named(['buy', 'count'], both))).toEqual(['invalid_request', '/tools/1']);
    expect(refusalOf(() => named(['look'], both))).toEqual(['invalid_request', '/tools/0']);
  });

  it('are 128 at most, each named once (L-031, L-032)', () => {
    const shop = [declared('shop', many('t', 200))];
    expect(named(many('t', 128), shop)).toHaveLength(128);
    expect(refusalOf(() => named(many('t', 129), shop))).toEqual(['invalid_request', '/tools']);
    expect(refusalOf(() => named(['t1', 't2', 't1'], shop))).toEqual(['invalid_request', '/tools/2']);
  });

  it('L-033: are not those of other tenants, whose names an environment may offer without its owner hearing of them', () => {
    expect(named(['secret'], [], 'acme')).toEqual(['brain/secret']);
    expect(refusalOf(() => named(['secret']))).toEqual(refusalOf(() => named(['nothing'])));
    expect(named(['secret'], [declared('shop', ['secret'])])).toEqual(['shop/secret']);
    expect(refusalOf(() => named(['secret'], [declared('shop', ['secret'])], 'acme'))).toEqual(['invalid_request', '/tools/0']);
  });
});
