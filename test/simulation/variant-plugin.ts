/**
 * Loads modules in variants: what is imported as `module.ts?variant=name` is loaded anew for that variant, with all that it
 * imports from this project, and with the changes that `mutations.ts` has for it.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vitest/config';
import { changed } from './mutations.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const VARIANT = /^(.*\.ts)\?variant=([\w-]+)$/;

export function variantPlugin(): Plugin {
  return {
    name: 'variants',
    enforce: 'pre',
    resolveId(source, importer) {
      const [, file, variant] = VARIANT.exec(importer ?? '') ?? [];
      if (file === undefined || variant === undefined || !source.startsWith('.')) return null;
      return `${path.resolve(path.dirname(file), source)}?variant=${variant}`;
    },
    load(id) {
      const [, file, variant] = VARIANT.exec(id) ?? [];
      if (file === undefined || variant === undefined) return null;
      return changed(readFileSync(file, 'utf8'), path.relative(ROOT, file), variant);
    },
  };
}
