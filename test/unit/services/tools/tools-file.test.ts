import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolContext } from '../../../../services/tools/tool.ts';
import { serverTools } from '../../../../services/tools/server-tools.ts';
import { schemaProblem } from '../../../../services/tools/tool-inputs.ts';
import { loadToolsFile, ToolsFileError } from '../../../../services/tools/tools-file.ts';

const context: ToolContext = {
  signal: new AbortController().signal,
  session_id: '0'.repeat(32),
  sequence: 7,
  emit: async () => undefined,
  progress: () => undefined,
};

const add = { name: 'add', description: 'Adds', input_schema: { type: 'object' }, run: () => 1 };

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'brain-tools-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe('a tools file', () => {
  it('gives the tools of its default export, which are called with their input and what a tool is given', async () => {
    const file = path.join(folder, 'tools with a space.mjs');
    await writeFile(
      file,
      `export default [
        { name: 'lookup', description: 'Looks up', input_schema: { type: 'object', properties: { id: { type: 'string' } } },
          effect: 'read', tenants: ['acme'],
          run: async (input, { sequence, session_id }) => ({ found: input.id, sequence, session_id }) },
        { name: 'ping', description: '', input_schema: {}, run() { return this.name; } },
      ];`,
    );

    const [lookup, ping] = await loadToolsFile({ path: file, reservedNames: ['wait'] }, (url) => import(url));

    expect(lookup).toMatchObject({ name: 'lookup', effect: 'read', tenants: ['acme'], input_schema: { properties: { id: { type: 'string' } } } });
    expect(await lookup?.run({ id: 'a' }, context)).toEqual({ found: 'a', sequence: 7, session_id: '0'.repeat(32) });
    // What a repeat would do is not known: the careful answer is that it would do it again.
    expect(ping).toMatchObject({ name: 'ping', effect: 'once' });
    expect(ping).not.toHaveProperty('tenants');
    expect(await ping?.run({}, context)).toBe('ping');
  });

  it.each<[string, unknown, string]>([
    ['no default export', {}, 'must have a list of tools as its default export'],
    ['no list', { default: { add } }, 'must have a list of tools as its default export'],
    ['an entry that is none', { default: [add, 5] }, 'has a mistake in entry 2: it must be an object'],
    ['a bad name', { default: [{ ...add, name: 'a b' }] }, 'has a mistake in entry 1: its name must be 1 to 64 letters, digits, _ or -'],
    ['a long name', { default: [{ ...add, name: 'a'.repeat(65) }] }, 'has a mistake in entry 1: its name must be 1 to 64 letters, digits, _ or -'],
    ['no description', { default: [{ ...add, description: undefined }] }, 'has a mistake in the tool add: its description must be a text'],
    ['no schema', { default: [{ ...add, input_schema: 'x' }] }, 'has a mistake in the tool add: its input_schema must be an object of plain JSON'],
    ['a schema of no such type', { default: [{ ...add, input_schema: { type: 'text' } }] }, `has a mistake in the tool add: its input_schema cannot be used: ${schemaProblem({ type: 'text' })}`],
    ['a schema that is none', { default: [{ ...add, input_schema: { required: 'a' } }] }, 'has a mistake in the tool add: its input_schema cannot be used: it is no JSON Schema: /required must be array'],
    ['code in a schema', { default: [{ ...add, input_schema: { a: () => 1 } }] }, 'has a mistake in the tool add: its input_schema must be an object of plain JSON'],
    ['an unknown effect', { default: [{ ...add, effect: 'twice' }] }, 'has a mistake in the tool add: its effect must be one of read, idempotent, once'],
    ['tenants that are no list', { default: [{ ...add, tenants: 'acme' }] }, 'has a mistake in the tool add: its tenants must be a list of names'],
    // Passed over, this one would open the tool to everybody.
    ['a field that is misspelt', { default: [{ ...add, tenant: ['acme'] }] }, 'has a mistake in the tool add: it has no field tenant'],
    ['no run', { default: [{ ...add, run: undefined }] }, 'has a mistake in the tool add: its run must be a function'],
    ['a name twice', { default: [add, add] }, 'names two tools add'],
    ['a name of the demo', { default: [{ ...add, name: 'wait' }] }, 'names a tool wait, which is one of the demo\'s own'],
  ])('is refused in one line with %s', async (_what, module, problem) => {
    const loading = loadToolsFile({ path: 'tools.mjs', reservedNames: ['wait'] }, async () => module);

    await expect(loading).rejects.toThrow(ToolsFileError);
    await expect(loading).rejects.toThrow(new ToolsFileError(`the tools file tools.mjs ${problem}`));
  });

  it.each(['missing.mjs', 'broken.mjs'])('is refused in one line where it does not load (%s)', async (name) => {
    await writeFile(path.join(folder, 'broken.mjs'), 'export default [');

    const loading = loadToolsFile({ path: path.join(folder, name), reservedNames: [] }, (url) => import(/* @vite-ignore */ url));

    await expect(loading).rejects.toThrow(/^the tools file \S+ cannot be loaded: [^\n]+$/);
  });
});

describe('a tool of the file', () => {
  const loaded = async (run: () => unknown) => {
    const [tool] = await loadToolsFile({ path: 'tools.mjs', reservedNames: [] }, async () => ({ default: [{ ...add, run }] }));
    return async () => await tool?.run({}, context);
  };

  it('gives plain JSON, which it cannot change later', async () => {
    const kept = { list: [1], at: new Date(0) };
    const output = await (await loaded(() => kept))();
    kept.list.push(2);

    expect(output).toEqual({ list: [1], at: '1970-01-01T00:00:00.000Z' });
    expect(await (await loaded(() => undefined))()).toBeUndefined();
  });

  it.each([[() => 1n], [() => new Map()], [() => () => 1]])('fails where it returns what is no JSON (%s)', async (run) => {
    await expect((await loaded(run))()).rejects.toThrow('the tool returned what is no JSON');
  });

  it('fails as it throws, at once or later', async () => {
    await expect((await loaded(() => Promise.reject(new Error('later'))))()).rejects.toThrow('later');
    await expect(
      (
        await loaded(() => {
          throw new Error('at once');
        })
      )(),
    ).rejects.toThrow('at once');
  });
});

describe('the tools of a server', () => {
  const tool = (name: string, tenants?: readonly string[]) => ({
    name,
    description: '',
    input_schema: {},
    effect: 'once' as const,
    ...(tenants === undefined ? {} : { tenants }),
    run: async () => null,
  });

  it('are found by their name, by the tenants that may use them', () => {
    const tools = serverTools({ demo: [tool('wait')], file: [tool('all'), tool('ours', ['acme']), tool('nobody', [])] });
    const found = (tenant: string) => ['wait', 'all', 'ours', 'nobody', 'none'].map((name) => tools.find(tenant, name)?.name ?? null);

    expect(found('acme')).toEqual(['wait', 'all', 'ours', null, null]);
    expect(found('other')).toEqual(['wait', 'all', null, null, null]);
    expect(tools.demoTools.map(({ name }) => name)).toEqual(['wait']);
  });
});
