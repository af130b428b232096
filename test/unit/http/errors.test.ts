import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERROR_WORDS, type ErrorWords } from '../../../http/error-words.ts';
import { answerTo, ERROR_RULES, HttpError } from '../../../http/errors.ts';
import { ServiceError } from '../../../services/errors.ts';

describe('the table of errors', () => {
  it('is what docs/errors.md says: the same codes, statuses and chances, each with when it comes and what to do', async () => {
    const text = await readFile(path.resolve(import.meta.dirname, '../../../docs/errors.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `([a-z_]+)` \| (\d+) \| (yes|no) \| (.+) \| (.+) \|$/gm)].map((row) => row.slice(1));
    const documented = Object.fromEntries(
      rows.map(([code = '', status, retryable, when, advice]) => [code, [Number(status), retryable === 'yes', when, advice]]),
    );
    const words: Readonly<Record<string, ErrorWords>> = ERROR_WORDS;
    const ruled = Object.fromEntries(
      Object.entries(ERROR_RULES).map(([code, rule]) => [code, [rule.status, rule.retryable, words[code]?.when, words[code]?.advice]]),
    );

    expect(documented, 'the words stand in http/error-words.ts').toEqual(ruled);
    expect(rows).toHaveLength(Object.keys(ERROR_RULES).length);
  });

  it('S-156: advises who cannot know what a request did to look at the session before taking a new key', () => {
    expect(ERROR_WORDS.idempotency_ambiguous.advice).toMatch(/^Look at the session; then take a new key/);
  });

  it('is told to the operator where the server is at fault, and nowhere else', () => {
    for (const [code, { status, log }] of Object.entries(ERROR_RULES)) {
      expect([code, log !== 'never']).toEqual([code, status >= 500 && code !== 'draining']);
    }
  });
});

describe('the answer to a failure', () => {
  it('shows nothing of an error that is not one of ours', () => {
    for (const error of [new TypeError('at /srv/brain/x.ts:1'), 'text', undefined, { code: 'not_found', message: 'forged' }]) {
      const { rule, body } = answerTo(error);
      expect([rule.status, body.error.code]).toEqual([500, 'internal']);
      expect(JSON.stringify(body)).not.toMatch(/srv|text|forged/);
    }
  });

  it('never shows what caused it', () => {
    const cause = new Error('/srv/secret');
    for (const error of [new HttpError('invalid_request', 'in words', { cause }), new ServiceError('disk_full', 'in words', { cause })]) {
      expect(JSON.stringify(answerTo(error))).not.toContain('secret');
    }
  });
});
