import { describe, expect, it } from 'vitest';
import { ownUrl } from '../../../cli/public-url.ts';

describe('the address of a server that is told no other', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:80'],
    ['10.1.2.3', 'http://10.1.2.3:80'],
    ['0.0.0.0', 'http://127.0.0.1:80'],
    ['::', 'http://[::1]:80'],
    ['::1', 'http://[::1]:80'],
  ])('is %s as %s', (host, url) => {
    expect(ownUrl({ host, port: 80 })).toBe(url);
  });
});
