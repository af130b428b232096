/** The inspector as a build would have left it. */
import type { BuiltPage } from '../../http/built-page.ts';

export const NO_PAGE: BuiltPage = { files: () => Promise.resolve(null) };

export function pageOf(files: Readonly<Record<string, string>>): BuiltPage {
  const bytes = new Map(Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]));
  return { files: () => Promise.resolve(bytes) };
}

export const SMALL_PAGE: BuiltPage = pageOf({ 'index.html': '<!doctype html>', 'assets/page-1.js': 'let a;' });
