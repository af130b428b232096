/** The inspector's files: who gets them, under which headers, and what is none of them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtPage } from '../../cli/built-page.ts';
import { pageOf } from '../support/fake-page.ts';
import { errorOf, HttpStage } from '../support/http-stage.ts';
import { SimulatedDisk } from '../support/simulated-disk.ts';

const PAGE = '<!doctype html><title>Sessions</title>';
const FILES = { 'index.html': PAGE, 'assets/page-d34db33f.js': 'let a;', 'assets/page-d34db33f.css': 'a {}', 'assets/icon-1.svg': '<svg/>' };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

let stage: HttpStage;

beforeEach(async () => {
  stage = await HttpStage.open({ apiKey: 'k-1', page: pageOf(FILES) });
});

afterEach(async () => {
  await stage.close();
});

describe('the page', () => {
  it('is there without a token, with and without a slash at its end, and the front page leads to it', async () => {
    for (const path of ['/inspector', '/inspector/']) {
      const response = await stage.request('GET', path);
      expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([200, 'text/html; charset=utf-8', PAGE]);
    }
    expect(await (await stage.request('GET', '/')).text()).toContain('href="/inspector"');
  });

  it.each([
    ['page-d34db33f.js', 'text/javascript; charset=utf-8', 'let a;'],
    ['page-d34db33f.css', 'text/css; charset=utf-8', 'a {}'],
    ['icon-1.svg', 'image/svg+xml', '<svg/>'],
  ])('has its file %s as %s', async (name, type, text) => {
    const response = await stage.request('GET', `/inspector/assets/${name}`);
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([200, type, text]);
  });

  it('and each of its files, which a worker may be, says what may run in it and where it may be shown', async () => {
    for (const path of ['/inspector', '/inspector/assets/page-d34db33f.js']) {
      const { headers } = await stage.request('GET', path);
      expect(headers.get('content-security-policy')).toBe(POLICY);
      expect([headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual(['nosniff', 'no-referrer']);
    }
  });

  it('is asked for each time, and not sent again where it is known; its files are kept for good', async () => {
    const page = await stage.request('GET', '/inspector');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const again = async (etag: string): Promise<string> => {
      const connection = stage.connect();
      connection.send(`GET /inspector HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: ${etag}\r\nConnection: close\r\n\r\n`);
      return connection.closed;
    };
    const known = await again(page.headers.get('etag') ?? '');
    expect(known).toMatch(/^HTTP\/1\.1 304 [\s\S]*\r\n\r\n$/);
    expect(known).toContain(`Content-Security-Policy: ${POLICY}`);
    expect(await again('"other"')).toMatch(/^HTTP\/1\.1 200 /);

    const script = await stage.request('GET', '/inspector/assets/page-d34db33f.js');
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  it('answers a HEAD with the headers of a GET alone', async () => {
    const response = await stage.request('HEAD', '/inspector/assets/page-d34db33f.js');
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '6', '']);
  });

  it.each(['none.js', '..%2findex.html', '%2e%2e%2findex.html', '..%5c..%5cpackage.json', '%2fetc%2fpasswd', '__proto__', 'page-d34db33f.js%00', '%ff'])(
    'has no file %s, and no path of a request is one of the disk',
    async (name) => {
      const connection = stage.connect();
      connection.send(`GET /inspector/assets/${name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      const text = await connection.closed;
      expect(text).toMatch(/^HTTP\/1\.1 404 /);
      expect(text).toContain('Cache-Control: no-store');
      expect(JSON.parse(connection.body)).toMatchObject({ error: { code: 'not_found', message: 'the inspector has no such file' } });
    },
  );

  it('says so where it is not built', async () => {
    const unbuilt = await HttpStage.open();
    const response = await unbuilt.request('GET', '/inspector');
    expect(response.status).toBe(404);
    expect((await errorOf(response)).message).toBe('the inspector is not built here: run npm run build, and load it again');
    await unbuilt.close();
  });
});

describe('what the build left', () => {
  it('is read once, and looked for again as long as it is not there', async () => {
    const disk = new SimulatedDisk();
    const process = disk.boot();
    const page = builtPage(process, '/inspector');
    expect(await page.files()).toBeNull();

    for (const directory of ['/inspector', '/inspector/assets']) await process.makeDirectory(directory);
    for (const [name, text] of Object.entries(FILES)) await (await process.open(`/inspector/${name}`, 'create')).write(Buffer.from(text), 0);
    const files = await page.files();
    expect([...(files ?? [])].map(([name, bytes]) => [name, Buffer.from(bytes).toString()]).toSorted()).toEqual(Object.entries(FILES).toSorted());
    const calls = disk.callCount;
    expect(await page.files()).toBe(files);
    expect(disk.callCount).toBe(calls);
  });
});
