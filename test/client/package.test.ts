/** The package as somebody imports it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

async function bundle({ minify = false } = {}): Promise<{ readonly code: string; readonly imports: readonly string[]; readonly files: readonly string[] }> {
  const build = await rolldown({ input: path.join(ROOT, 'client/index.ts'), platform: 'browser', external: [/^node:/] });
  const { output } = await build.generate({ format: 'esm', minify });
  await build.close();
  return {
    code: output.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join(''),
    imports: output.flatMap((chunk) => (chunk.type === 'chunk' ? [...chunk.imports, ...chunk.dynamicImports] : [])),
    files: output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : [])).map((file) => path.relative(ROOT, file)),
  };
}

describe('the package', () => {
  it('L-005: is called @aexhq/brain, and its main export is the client', () => {
    const { name, exports } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { readonly name: string; readonly exports: Readonly<Record<string, unknown>> };

    expect(name).toBe('@aexhq/brain');
    expect(exports['.']).toEqual({ types: './dist/client/index.d.ts', default: './dist/client/index.js' });
  });

  it('runs in a browser: the client brings nothing but itself and a parser of event streams', async () => {
    const { code, imports, files } = await bundle();

    expect(imports).toEqual([]);
    expect(code).not.toMatch(/\bnode:|\brequire\(|\bprocess\.|\bBuffer\b/);
    expect(files.filter((file) => !/^client\/|^node_modules\/eventsource-parser\//.test(file) && !file.startsWith('\0rolldown'))).toEqual([]);
  });

  it('is as small as the documents say', async () => {
    const [, kilobytes] = /less than (\d+) kB in a page/.exec(readFileSync(path.join(ROOT, 'docs/sdk.md'), 'utf8')) ?? [];

    expect(gzipSync((await bundle({ minify: true })).code).length).toBeLessThan(Number(kilobytes) * 1_000);
  });
});
