/**
 * `/inspector`: the page that shows sessions, as files. It holds no data: what it shows it reads from `/v1`, with the token
 * of whoever looks, so that it is there for everybody.
 *
 *   P1. A name is looked up among the page's own files and nowhere else: no path of a request reaches a disk.
 *   P2. The page runs its own scripts, and calls its own server. The policy is on every file: a worker goes by that of its
 *       own script.
 *   P3. What is built under a name made of its contents is kept for ever; the page itself is asked for each time, so that
 *       it never names files of another version.
 */
import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import type { Context } from 'koa';
import type { BuiltPage } from './built-page.ts';
import type { OpenContract } from './contract.ts';
import { HttpError } from './errors.ts';
import type { RouteTable } from './route-table.ts';
import { parameterOf } from './routes.ts';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ASSET_SECS = 31_536_000;

const CACHE_HEADERS = { ETag: 'Names these contents.', 'Cache-Control': 'How long it may be kept.' };

const readInspector = {
  operation: 'readInspector',
  method: 'get',
  path: '/inspector',
  tag: 'Server',
  summary: 'A page that shows sessions',
  description: 'It reads what it shows from `/v1`, with the token that is entered there.',
  scope: null,
  answers: {
    200: { description: 'The page.', mediaType: 'text/html', headers: CACHE_HEADERS },
    304: { description: 'It is what `If-None-Match` names.' },
  },
  refusals: ['not_found'],
} as const satisfies OpenContract;

const readInspectorAsset = {
  operation: 'readInspectorAsset',
  method: 'get',
  path: '/inspector/assets/{file}',
  tag: 'Server',
  summary: 'A file of the page that shows sessions',
  scope: null,
  answers: {
    200: { description: 'A script, a style sheet or an image.', mediaType: '*/*', headers: CACHE_HEADERS },
    304: { description: 'It is what `If-None-Match` names.' },
  },
  refusals: ['not_found'],
} as const satisfies OpenContract;

export function addInspectorRoutes(table: RouteTable, page: BuiltPage): void {
  table.open(readInspector, async (context) => {
    answerFile(context, await fileOf(page, 'index.html'), { name: 'index.html', caching: 'no-cache' });
  });

  table.open(readInspectorAsset, async (context) => {
    const name = `assets/${parameterOf(context, 'file')}`;
    answerFile(context, await fileOf(page, name), { name, caching: `public, max-age=${ASSET_SECS}, immutable` });
  });
}

async function fileOf(page: BuiltPage, name: string): Promise<Uint8Array> {
  const files = await page.files();
  if (files === null) throw new HttpError('not_found', 'the inspector is not built here: run npm run build, and load it again');
  const file = files.get(name);
  if (file === undefined) throw new HttpError('not_found', 'the inspector has no such file');
  return file;
}

function answerFile(context: Context, bytes: Uint8Array, { name, caching }: { readonly name: string; readonly caching: string }): void {
  context.set({
    'Cache-Control': caching,
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Referrer-Policy': 'no-referrer',
  });
  context.status = 200;
  context.etag = createHash('sha256').update(bytes).digest('base64url');
  if (context.fresh) {
    context.status = 304;
    return;
  }
  context.type = extname(name);
  context.body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
