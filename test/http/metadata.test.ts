/** Metadata over real services: what may be set, how it is changed, and how sessions are found by it and by status. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DescribedServer, type Answer } from '../support/described-server.ts';
import type { OpenApiDocument } from '../support/openapi-document.ts';

let document: OpenApiDocument;
let server: DescribedServer;

beforeAll(async () => {
  document = await DescribedServer.document();
});

beforeEach(async () => {
  server = await DescribedServer.open({ document });
});

afterEach(async () => {
  await server.close();
});

interface Page {
  readonly sessions: readonly { readonly session_id: string; readonly metadata: Readonly<Record<string, string>> }[];
  readonly next_cursor: string | null;
}

/** As filters of a list. */
function filters(metadata: Readonly<Record<string, string>>): string {
  return new URLSearchParams(Object.entries(metadata).map(([name, value]): [string, string] => [`metadata.${name}`, value])).toString();
}

function many(count: number, from = 0): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${from + index}`, 'v']));
}

describe('a change of metadata', () => {
  let id: string;
  beforeEach(async () => {
    id = await server.create({ metadata: { team: 'red', draft: 'yes' } });
  });

  function change(metadata: unknown): Promise<Answer> {
    return server.send('PATCH', `/v1/sessions/${id}`, { body: typeof metadata === 'string' ? `{"metadata":${metadata}}` : { metadata } });
  }

  async function now(): Promise<unknown> {
    const { body } = await server.send('GET', `/v1/sessions/${id}`);
    return (body as { readonly metadata: unknown }).metadata;
  }

  it('sets what it names, takes away what it gives as null, and leaves the rest', async () => {
    const answer = await change({ team: 'blue', draft: null, absent: null, note: '' });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ session_id: id, metadata: { team: 'blue', note: '' } });
    expect(await now()).toEqual({ team: 'blue', note: '' });
  });

  it('that changes nothing writes nothing', async () => {
    const before = await server.living.journal(id);
    expect((await change({ team: 'red', absent: null })).status).toBe(200);
    expect((await change({})).status).toBe(200);
    expect(await server.living.journal(id)).toEqual(before);
  });

  it('takes keys and values up to their bounds, counted in characters', async () => {
    const metadata = { ['🦀'.repeat(64)]: '🦀'.repeat(512), 'a.b': 'dotted', constructor: 'x', 'line\nbreak': 'two\nlines' };
    expect((await change(metadata)).status).toBe(200);
    expect(await now()).toEqual({ team: 'red', draft: 'yes', ...metadata });
  });

  it.each([
    ['an empty key', { '': 'x' }, '/metadata'],
    ['a key of 65 characters', { ['k'.repeat(65)]: 'x' }, '/metadata'],
    ['a value of 513 characters', { k: 'v'.repeat(513) }, '/metadata/k'],
    ['a number', { k: 1 }, '/metadata/k'],
    ['a list', { k: ['v'] }, '/metadata/k'],
    ['true', { k: true }, '/metadata/k'],
    ['a list in place of it all', ['k'], '/metadata'],
    ['null in place of it all', null, '/metadata'],
    ['__proto__', '{"__proto__":"x"}', '/metadata'],
    ['a value with NUL', '{"k":"a\\u0000b"}', '/metadata/k'],
    ['a value with half of a pair', '{"k":"\\ud83e"}', '/metadata/k'],
    ['a key with half of a pair', '{"\\udd80":"v"}', '/metadata'],
    ['33 names in all', many(31), '/metadata'],
  ])('is refused with %s, and nothing is changed', async (_, metadata, field) => {
    const before = await server.living.journal(id);
    const answer = await change(metadata);

    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
    expect(answer.body).toMatchObject({ error: { details: { field } } });
    expect(await server.living.journal(id)).toEqual(before);
  });

  it('may name more than a session has, as long as no more than 32 are left', async () => {
    expect((await change(many(30))).status).toBe(200);
    expect((await change({ one: 'more' })).code).toBe('invalid_request');
    const removed = Object.fromEntries(Object.keys(many(30)).map((name) => [name, null]));
    expect((await change({ ...removed, ...many(30, 100) })).status).toBe(200);
    expect(Object.keys((await now()) as object)).toHaveLength(32);
  });

  it('is refused without its body or its field', async () => {
    expect((await server.send('PATCH', `/v1/sessions/${id}`)).body).toMatchObject({ error: { code: 'invalid_request', details: { field: '' } } });
    const empty = await server.send('PATCH', `/v1/sessions/${id}`, { body: {} });
    expect(empty.body).toMatchObject({ error: { code: 'invalid_request', details: { field: '/metadata' } } });
    const other = await server.send('PATCH', `/v1/sessions/${id}`, { body: { metadata: {}, system: 'x' } });
    expect(other.body).toMatchObject({ error: { code: 'invalid_request', details: { field: '/system' } } });
  });

  it('is an event that shows all of it, and outlives the process', async () => {
    await change({ team: null });
    const { body } = await server.send('GET', `/v1/sessions/${id}/events?types=session_metadata_changed`);
    expect(body).toMatchObject({ events: [{ type: 'session_metadata_changed', data: { metadata: { draft: 'yes' } } }] });
    server = await server.restart();
    expect(await now()).toEqual({ draft: 'yes' });
  });
});

describe('a list', () => {
  const SESSIONS = [
    { team: 'red', kind: 'a' },
    { team: 'red', kind: 'b' },
    { team: 'blue', kind: 'a' },
    { team: '', 'a.b': 'dotted', 'größe': 'groß & klein' },
    {},
  ];
  let ids: readonly string[];

  beforeEach(async () => {
    const made: string[] = [];
    for (const metadata of SESSIONS) made.push(await server.create({ metadata }));
    ids = made;
  });

  async function list(query: string): Promise<Page> {
    const answer = await server.send('GET', `/v1/sessions${query}`);
    expect(answer.status).toBe(200);
    return answer.body as Page;
  }

  /** Which of the sessions above are in the answer. */
  async function found(query: string): Promise<readonly number[]> {
    return (await list(query)).sessions.map(({ session_id }) => ids.indexOf(session_id));
  }

  it.each([
    ['', [0, 1, 2, 3, 4]],
    ['?metadata.team=red', [0, 1]],
    ['?metadata.team=red&metadata.kind=b', [1]],
    ['?metadata.team=green', []],
    ['?metadata.team=', [3]],
    ['?metadata.absent=', []],
    ['?metadata.a.b=dotted', [3]],
    ['?metadata.gr%C3%B6%C3%9Fe=gro%C3%9F+%26+klein', [3]],
    ['?metadata.constructor=x', []],
    ['?metadata.toString=', []],
    ['?status=idle', [0, 1, 2, 3, 4]],
    ['?status=running', []],
  ])('is of the sessions that are so: %s', async (query, expected) => {
    expect(await found(query)).toEqual(expected);
  });

  it('goes by status and metadata together', async () => {
    await server.send('POST', `/v1/sessions/${ids[0]}/end`);
    expect(await found('?status=ended&metadata.team=red')).toEqual([0]);
    expect(await found('?status=idle&metadata.team=red')).toEqual([1]);
  });

  it('comes in pages of those that are so, each full but the last, whatever lies between', async () => {
    for (let index = 0; index < 6; index += 1) await server.create({ metadata: { team: index % 2 === 0 ? 'red' : 'blue' } });
    const seen: string[] = [];
    let pages = 0;
    let query = '?metadata.team=red&limit=2';
    for (;;) {
      const page = await list(query);
      pages += 1;
      seen.push(...page.sessions.map(({ session_id }) => session_id));
      expect(page.sessions.every(({ metadata }) => metadata['team'] === 'red')).toBe(true);
      if (page.next_cursor === null) break;
      expect(page.sessions).toHaveLength(2);
      query = `?metadata.team=red&limit=2&after=${page.next_cursor}`;
    }
    expect(pages).toBe(3);
    expect(seen).toEqual([...new Set(seen)].toSorted());
    expect(seen).toHaveLength(5);
  });

  it('misses and repeats none where sessions come and are relabelled between two pages', async () => {
    const first = await list('?metadata.team=red&limit=1');
    await server.create({ metadata: { team: 'red' } });
    await server.send('PATCH', `/v1/sessions/${ids[0]}`, { body: { metadata: { team: 'blue' } } });
    const rest = await list(`?metadata.team=red&after=${first.next_cursor}`);

    expect(first.sessions.map(({ session_id }) => session_id)).toEqual([ids[0]]);
    expect(rest.sessions).toHaveLength(2);
    expect(rest.sessions[0]?.session_id).toBe(ids[1]);
  });

  it.each([
    ['?status=', '/status'],
    ['?status=IDLE', '/status'],
    ['?status=suspended', '/status'],
    ['?status=idle&status=ended', '/status'],
    ['?metadata.team=red&metadata.team=blue', '/metadata.team'],
    ['?metadata.__proto__=x', '/metadata.__proto__'],
    ['?metadata.=x', ''],
    ['?metadata=x', '/metadata'],
    ['?metadata[team]=red', '/metadata[team]'],
    ['?Metadata.team=red', '/Metadata.team'],
    [`?metadata.${'k'.repeat(65)}=x`, ''],
    [`?metadata.k=${'v'.repeat(513)}`, '/metadata.k'],
    ['?metadata.k=%00', ''],
    ['?metadata.k=%ff', ''],
    [`?${filters(many(33))}`, ''],
  ])('is refused with %s', async (query, field) => {
    const answer = await server.send('GET', `/v1/sessions${query}`);
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
    expect(answer.body).toMatchObject({ error: { details: { field }, message: expect.stringMatching(/^the query/) } });
  });

  it('takes as many filters as a session has names', async () => {
    const id = await server.create({ metadata: many(32) });
    expect((await list(`?${filters(many(32))}`)).sessions.map(({ session_id }) => session_id)).toEqual([id]);
  });
});
