/** What the page is made of, and how large it is. */
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { afterEach, describe, expect, it, vi } from 'vitest';

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../../../..');
/** docs/inspector.md says how large it is. */
const BYTES_MAX = 720_000;
const COMPRESSED_BYTES_MAX = 215_000;

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the built page', () => {
  it('holds of the project the machines and itself, and is not large', async () => {
    // What libraries add for those who develop with them is not in the page.
    vi.stubEnv('NODE_ENV', 'production');
    const output = await builtFiles();
    const maps = output.filter(({ fileName }) => fileName.endsWith('.map')).map((file) => JSON.parse(textOf(file)) as { readonly sources: readonly string[] });
    // Relative to where each file will lie: what is left is relative to the project.
    const sources = maps.flatMap(({ sources }) => sources.map((source) => source.replace(/^(\.\.\/)+/, '')));
    const own = sources.filter((source) => !source.startsWith('node_modules/') && !source.includes('\0'));
    const files = output.filter(({ fileName }) => !fileName.endsWith('.map')).map((file) => Buffer.from(textOf(file)));
    const bytes = files.reduce((sum, file) => sum + file.length, 0);
    const compressedBytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0);

    expect(maps).toHaveLength(2);
    expect(own).toEqual(expect.arrayContaining(['machines/session-chart.ts', 'machines/replay.ts', 'http/inspector/ui/app.tsx', 'http/inspector/data/fold-worker.ts']));
    expect(own.filter((source) => !/^(machines|http\/inspector)\//.test(source))).toEqual([]);
    expect(sources.filter((source) => /node_modules\/elkjs\//.test(source))).toEqual([]);
    expect(bytes).toBeLessThanOrEqual(BYTES_MAX);
    expect(compressedBytes).toBeLessThanOrEqual(COMPRESSED_BYTES_MAX);
  });
});

type OutputFile = Rolldown.OutputChunk | Rolldown.OutputAsset;

async function builtFiles(): Promise<readonly OutputFile[]> {
  const built = await build({
    configFile: path.join(PROJECT_ROOT, 'http/inspector/vite.config.ts'),
    logLevel: 'error',
    build: { write: false, sourcemap: true },
  });
  return [built].flat().flatMap((one) => ('output' in one ? one.output : []));
}

function textOf(file: OutputFile): string {
  if (file.type === 'chunk') return file.code;
  return typeof file.source === 'string' ? file.source : new TextDecoder().decode(file.source);
}
