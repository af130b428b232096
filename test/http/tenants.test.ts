/** What tenants can tell of one another: nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Asking, ASKS, standingSessions, textOf, type Ask, type StandingSessions } from '../support/access-asks.ts';
import { AccessStage, BLUE, CANARY, RED, STATES, type StandingSession, type Tenant } from '../support/access-stage.ts';
import type { Sent } from '../support/living-server.ts';
import { OpenApiDocument } from '../support/openapi-document.ts';
import { SseReader } from '../support/sse-reader.ts';

const MISSING = '0'.repeat(32);

let stage: AccessStage;
let asking: Asking;
let standing: StandingSessions;
let blue: StandingSession;

beforeAll(async () => {
  stage = await AccessStage.open();
  asking = new Asking(stage, await OpenApiDocument.of(stage.server));
  blue = await stage.session(BLUE, 'idle');
  standing = await standingSessions(stage, RED);
});

afterAll(async () => {
  for (const { id } of Object.values(standing)) await stage.release(RED, id);
  await stage.close();
});

describe("another tenant's session", () => {
  const RUINED: readonly (readonly [what: string, sent: Sent, query?: string])[] = [
    ['as it should be asked', {}],
    ['with half a body', { body: '{' }],
    ['with a body of another type', { body: 'text', headers: { 'content-type': 'text/plain' } }],
    ['with a body that is too large', { body: JSON.stringify({ input: 'x'.repeat(1024 * 1024) }) }],
    ['with a key', { headers: { 'idempotency-key': 'k' } }],
    ['with a key that is none', { headers: { 'idempotency-key': '' } }],
    ['with a query that is none', {}, '?after=x&limit=0&what=1'],
    ['with a cursor that is none', { headers: { accept: 'text/event-stream', 'last-event-id': 'x' } }],
  ];
  const cells = ASKS.filter(({ subject }) => subject === 'session').flatMap((ask) => RUINED.map(([what, sent, query = '']) => [ask.name, what, ask, { ...sent, query }] as const));

  it.each(cells)('is answered like one that is not there, in every state: %s %s (L-125, L-126)', async (_name, what, ask, sent) => {
    const { body, ...bare } = sent;
    const given = asking.routeOf(ask).method === 'GET' || body === undefined ? bare : sent;
    const token = stage.token(BLUE, 'manage');
    const missing = await answerOf(await asking.send(ask, { id: MISSING, lastInput: '3.0' }, token, given));

    for (const state of STATES) expect([state, await answerOf(await asking.send(ask, standing[state], token, given))]).toEqual([state, missing]);
    // A delete with a key may be a repeat, which finds no session: it is looked at first.
    const isKeyed = ask.name === 'deleteSession with a key' || what.startsWith('with a key');
    const isWrong = what === 'with a key that is none' || sent.query !== '';
    expect(missing.status).toBe(ask.name.startsWith('deleteSession') && isKeyed && isWrong ? 400 : 404);
  });

  it('keeps its keys to itself, those of its making and its end too', async () => {
    const key = { headers: { 'idempotency-key': 'shared' } };
    const red = stage.token(RED, 'manage');
    const other = stage.token(BLUE, 'manage');
    const create = askOf('createSession');
    const remove = askOf('deleteSession');

    const mine = await asking.send(create, blue, red, key);
    const theirs = await asking.send(create, blue, other, key);
    expect([mine.status, theirs.status, theirs.headers.get('idempotent-replayed')]).toEqual([201, 201, null]);
    const { session_id: id } = (await mine.json()) as { readonly session_id: string };
    expect(await theirs.text()).not.toContain(id);

    await stage.living.sessions.end(RED, id);
    expect((await asking.send(remove, { id, lastInput: '3.0' }, red, key)).status).toBe(204);
    expect((await asking.send(remove, { id, lastInput: '3.0' }, red, key)).status).toBe(204);
    expect(await answerOf(await asking.send(remove, { id, lastInput: '3.0' }, other, key))).toEqual(await answerOf(await asking.send(remove, { id: MISSING, lastInput: '3.0' }, other, key)));
  });

  it('is on no list, and the lists of both surfaces hold all of a tenant\'s own (L-118)', async () => {
    for (const path of ['/v1/sessions', '/sessions']) {
      const [ofRed, ofBlue] = await Promise.all([RED, BLUE].map((tenant) => listed(path, stage.token(tenant, 'read'))));
      expect(ofRed).toEqual(expect.arrayContaining(STATES.filter((state) => state !== 'deleted').map((state) => standing[state].id)));
      expect(ofBlue).toContain(blue.id);
      expect(ofBlue?.filter((id) => ofRed?.includes(id))).toEqual([]);
    }
  });

  it('is in no answer to a token of one session, whose lists hold that one, by any filter (L-127)', async () => {
    const { id } = standing.interrupted;
    const token = stage.token(RED, 'manage', id);
    const lists: readonly (readonly [string, readonly string[]])[] = [
      ['', [id]],
      ['?limit=1', [id]],
      ['?status=interrupted', [id]],
      ['?status=idle', []],
      [`?metadata.canary=${CANARY[RED]}`, [id]],
      ['?metadata.canary=other', []],
      [`?after=${id}`, []],
      [`?after=${MISSING}`, [id]],
    ];
    for (const path of ['/v1/sessions', '/sessions']) {
      for (const [query, ids] of lists) expect([path, query, await listed(`${path}${query}`, token)]).toEqual([path, query, ids]);
      expect(await listed(path, stage.token(RED, 'manage', standing.deleted.id))).toEqual([]);
      expect(await listed(path, stage.token(BLUE, 'manage', id))).toEqual([]);
    }
  });
});

describe("another tenant's credential", () => {
  it('is on no list, names nothing, and is not to be deleted or replaced', async () => {
    const [red, other] = [stage.token(RED, 'manage'), stage.token(BLUE, 'manage')];
    const put = (token: string, value: string) => stage.send('PUT', '/v1/credentials/mine', token, { body: { value } });
    const names = async (token: string) => ((await (await stage.send('GET', '/v1/credentials', token)).json()) as { readonly credentials: readonly { readonly name: string }[] }).credentials.map(({ name }) => name);
    const createWith = (token: string, credential: string) =>
      stage.send('POST', '/v1/sessions', token, { body: { model: { provider: 'scripted', name: 'm', credential }, tools: [] } });
    expect((await put(red, `value-${CANARY[RED]}`)).status).toBe(204);

    expect(await names(other)).toEqual([]);
    const [named, unknown] = await Promise.all([createWith(other, 'mine'), createWith(other, 'none')]);
    expect([named.status, (await named.text()).replaceAll('mine', 'none')]).toEqual([422, await unknown.text()]);
    expect((await stage.send('DELETE', '/v1/credentials/mine', other)).status).toBe(404);
    expect((await put(other, `value-${CANARY[BLUE]}`)).status).toBe(204);
    expect((await stage.send('DELETE', '/v1/credentials/mine', other)).status).toBe(204);

    const mine = await createWith(red, 'mine');
    expect([mine.status, await names(red)]).toEqual([201, ['mine']]);
    const { session_id: id } = (await mine.json()) as { readonly session_id: string };
    await stage.living.sessions.send(RED, id, 'hello');
    expect(stage.living.model.calls.all.at(-1)?.credential).toBe(`value-${CANARY[RED]}`);
  });
});

describe("another tenant's environment", () => {
  it('is on no list, names nothing, and is not to be seen, deleted or replaced', async () => {
    const [red, other] = [stage.token(RED, 'manage'), stage.token(BLUE, 'manage')];
    const declare = (token: string, canary: string) =>
      stage.send('PUT', '/v1/environments/mine', token, { body: { driver: 'host', configuration: { canary }, tools: [] } });
    const createOn = (token: string, environment: string) => stage.send('POST', '/v1/sessions', token, { body: { environments: [environment] } });
    expect((await declare(red, CANARY[RED])).status).toBe(200);

    expect(await (await stage.send('GET', '/v1/environments', other)).json()).toEqual({ environments: [] });
    for (const method of ['GET', 'DELETE']) {
      const [theirs, missing] = await Promise.all(['mine', 'none'].map((name) => stage.send(method, `/v1/environments/${name}`, other)));
      expect(theirs?.status).toBe(404);
      expect(theirs === undefined || (await answerOf(theirs))).toEqual(missing === undefined || (await answerOf(missing)));
    }
    const [named, unknown] = await Promise.all([createOn(other, 'mine'), createOn(other, 'none')]);
    expect([named.status, (await named.text()).replaceAll('mine', 'none')]).toEqual([422, await unknown.text()]);
    expect((await declare(other, CANARY[BLUE])).status).toBe(200);
    expect((await stage.send('DELETE', '/v1/environments/mine', other)).status).toBe(204);

    expect(await (await stage.send('GET', '/v1/environments/mine', red)).json()).toMatchObject({ configuration: { canary: CANARY[RED] } });
  });
});

/** Everything that a client can tell an answer by. */
async function answerOf(response: Response): Promise<{ readonly status: number; readonly headers: unknown; readonly text: string }> {
  const headers = [...response.headers].filter(([name]) => name !== 'date');
  return { status: response.status, headers, text: await textOf(response) };
}

async function listed(path: string, token: string): Promise<readonly (string | undefined)[]> {
  const response = await stage.send('GET', path, token);
  const { sessions } = (await response.json()) as { readonly sessions: readonly { readonly id?: string; readonly session_id?: string }[] };
  return sessions.map(({ id, session_id }) => id ?? session_id);
}

function askOf(name: string): Ask {
  const ask = ASKS.find((one) => one.name === name);
  if (ask === undefined) throw new Error(`nobody asks for ${name}`);
  return ask;
}

describe('streams of two tenants at work at the same time', () => {
  it('hold what is said to each of them, and nothing of the other (L-118)', async () => {
    const paths = (id: string): readonly string[] => [`/v1/sessions/${id}/events`, `/sessions/${id}/events`];
    const open = async (tenant: Tenant, id: string): Promise<readonly SseReader[]> =>
      Promise.all(paths(id).map((path) => SseReader.open(`${stage.server.url}${path}?access_token=${stage.token(tenant, 'read', id)}`)));
    const red = standing.idle;
    const readers = { red: await open(RED, red.id), blue: await open(BLUE, blue.id) };
    for (const reader of [...readers.red, ...readers.blue]) expect(reader.status).toBe(200);

    await Promise.all(
      ([[RED, red], [BLUE, blue]] as const).map(([tenant, { id }]) => stage.living.sessions.send(tenant, id, `again ${CANARY[tenant]} last`)),
    );

    for (const [tenant, other] of [[RED, BLUE], [BLUE, RED]] as const) {
      for (const reader of readers[tenant]) {
        await reader.next(({ data }) => data.includes(`you said`) && data.includes('last'), 'the answer');
        reader.close();
        const text = JSON.stringify(reader.frames);
        expect(text).toContain(CANARY[tenant]);
        expect(text).not.toContain(CANARY[other]);
      }
    }
  });
});
