/** The rules that ask the documentation to say something: each page says it, in these words, where a user comes by. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from './program.ts';

/** A page as it reads: one line for each paragraph, list item or row of a table, however it is wrapped. */
function linesOf(page: string): readonly string[] {
  const text = readFileSync(path.join(PROJECT_ROOT, page), 'utf8');
  return text.split(/\n\n+|\n(?=\|)/).map((paragraph) => paragraph.replaceAll(/\s+/g, ' ').trim());
}

function saying(page: string, words: string): readonly string[] {
  return linesOf(page).filter((line) => line.includes(words));
}

describe('the documentation', () => {
  it('S-052: says what the origin of an event does not prove', () => {
    expect(saying('README.md', 'An origin does not prove that what the event says is true, and it is nobody\'s consent.')).toHaveLength(1);
  });

  it('S-101: says where policy belongs that outlives a client', () => {
    expect(saying('README.md', 'What has to go on without it, the order of work as well as the checks of what comes out of it, belongs in an agent loop or a tool on the server')).toHaveLength(1);
  });

  it('S-112: leads from the first page to the page of the settings', () => {
    expect(saying('README.md', 'Every option: [docs/configuration.md](docs/configuration.md).')).toHaveLength(1);
  });

  it('S-156: says to look at the session before taking a new key, on the first page and beside the error', () => {
    expect(saying('README.md', 'look at the session before you take a new key')).toHaveLength(1);
    expect(saying('docs/errors.md', '`idempotency_ambiguous` | 409')).toEqual([expect.stringContaining('Look at the session; then take a new key, or not.')]);
  });

  it('S-170: says that storage which is lost, or lies about its flushes, is not covered', () => {
    expect(saying('README.md', 'What is **not** promised: storage that lies about flushes, or is lost;')).toHaveLength(1);
  });

  it('S-212: shows a client that creates inside of try and is closed in finally', () => {
    const page = readFileSync(path.join(PROJECT_ROOT, 'docs/sdk.md'), 'utf8');

    expect(page).toMatch(/^try \{\n(?: .*\n)* .*sessions\.create\((?:.*\n)(?: .*\n)*\} finally \{\n  await brain\.close\(\);\n\}$/m);
  });

  it('S-225: asks for a fresh handle of a child that one owns, and that nobody else sends to it', () => {
    expect(saying('docs/sdk.md', 'Take a fresh handle for a child that you own, and let nobody else send to it meanwhile')).toHaveLength(1);
  });

  it('S-191: says that delivery into another system is the business of whoever consumes the events', () => {
    expect(saying('README.md', 'Brain delivers into no other system. Whoever has to hand every event on keeps the cursor of the last one that arrived, the queue, the repeats and the sorting out of duplicates.')).toHaveLength(1);
  });
});
