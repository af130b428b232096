/**
 * Every route with every kind of token in every state of a session, cell by cell. The routes come from the document that
 * the application makes of its own table, so that a new one fails here until somebody says who may use it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES, type Scope } from '../../services/scopes.ts';
import { Asking, ASKS, operationOf, standingSessions, textOf, type Ask, type StandingSessions } from '../support/access-asks.ts';
import { AccessStage, API_KEY, BLUE, CANARY, RED, STATES, type StandingSession, type State } from '../support/access-stage.ts';
import { OpenApiDocument, type Route } from '../support/openapi-document.ts';

interface Kind {
  readonly name: string;
  /** Null: it is none, or counts no more. */
  readonly scope: Scope | null;
  readonly isOfTheTenant: boolean;
  readonly isLimited: boolean;
  /** Whether it sees the session that is asked about. */
  readonly sees: boolean;
  token(id: string): string | null;
}

let stage: AccessStage;
let asking: Asking;
let another: StandingSession;
let standing: StandingSessions;

const KINDS: readonly Kind[] = [
  { name: 'none', scope: null, token: () => null },
  { name: 'a wrong one', scope: null, token: () => `brain_${'0'.repeat(12)}_${'A'.repeat(43)}` },
  { name: 'no bearer token', scope: null, token: () => 'two words' },
  { name: 'expired', scope: null, token: () => stage.expiredToken() },
  { name: 'revoked', scope: null, token: () => stage.revokedToken() },
  { name: 'the key of the tenant local', scope: 'manage' as const, token: () => API_KEY },
  { name: "another tenant's", scope: 'manage' as const, token: () => stage.token(BLUE, 'manage') },
  { name: "another tenant's, for this very session", scope: 'manage' as const, isLimited: true, token: (id: string) => stage.token(BLUE, 'manage', id) },
  ...SCOPES.map((scope) => ({ name: `may ${scope}`, scope, isOfTheTenant: true, sees: true, token: () => stage.token(RED, scope) })),
  ...SCOPES.map((scope) => ({ name: `may ${scope}, this session`, scope, isOfTheTenant: true, isLimited: true, sees: true, token: (id: string) => stage.token(RED, scope, id) })),
  ...SCOPES.map((scope) => ({ name: `may ${scope}, another session`, scope, isOfTheTenant: true, isLimited: true, token: () => stage.token(RED, scope, another.id) })),
].map((kind) => ({ isOfTheTenant: false, isLimited: false, sees: false, ...kind }));

beforeAll(async () => {
  stage = await AccessStage.open();
  asking = new Asking(stage, await OpenApiDocument.of(stage.server));
  another = await stage.session(RED, 'idle');
  await stage.session(BLUE, 'idle');
  standing = await standingSessions(stage, RED);
});

afterAll(async () => {
  for (const { id } of Object.values(standing)) await stage.release(RED, id);
  await stage.close();
});

function isGuarded({ operation }: Route): boolean {
  return operation.security.length > 0;
}

function statusFor(ask: Ask, kind: Kind, state: State): number {
  if (kind.scope === null) return 401;
  if (SCOPES.indexOf(kind.scope) < SCOPES.indexOf(ask.scope)) return 403;
  if (ask.subject === 'tenant' && kind.isLimited) return 403;
  if (ask.subject === 'session' && !kind.sees) return 404;
  return ask.answers[state];
}

/** A request that is carried out is given a session of its own. */
async function carriedOut(ask: Ask, kind: Kind, state: State): Promise<number> {
  const session = await stage.session(RED, state);
  const answered = asking.send(ask, session, kind.token(session.id));
  if (ask.waitsForTheEnd === true && ['running', 'waiting', 'ending'].includes(state)) {
    await stage.untilRecorded(RED, session.id, 'session_end_requested');
    await stage.release(RED, session.id);
  }
  const { status } = await answered;
  await stage.release(RED, session.id);
  return status;
}

describe('who may do what', () => {
  it('is said of every route, once for each scope that it needs', () => {
    const guarded = asking.document.routes.filter(({ operation }) => operation.security.some((scheme) => 'bearer' in scheme));
    expect([...new Set(ASKS.map(operationOf))].toSorted()).toEqual(guarded.map(({ operation }) => operation.operationId).toSorted());
    for (const ask of ASKS) expect([ask.name, asking.routeOf(ask).operation.security[0]]).toEqual([ask.name, { bearer: [ask.scope] }]);
  });

  it('asks for no token where none is needed, and for one everywhere else', async () => {
    const statuses = await Promise.all(
      asking.document.routes.map(async (route) => [isGuarded(route), (await stage.send(route.method, route.path.replaceAll(/\{\w+\}/g, '0'.repeat(32)), null)).status === 401] as const),
    );
    expect(statuses.filter(([isGuarded]) => !isGuarded).length).toBeGreaterThan(3);
    for (const [isGuarded, isRefused] of statuses) expect(isRefused).toBe(isGuarded);
  });

  const cells = ASKS.flatMap((ask) => (ask.subject === 'session' ? STATES : (['idle'] as const)).map((state) => [ask.name, state, ask] as const));
  it.each(cells)(
    '%s of a session that is %s is answered by the scope, tenant and session of each token (L-024, L-025, L-026, L-038, L-039, L-040, L-086, L-103, L-113, L-125, L-127)',
    async (_name, state, ask) => {
      const session = standing[state];
      const before = await stage.standing(RED, session.id);
      const actual = new Map<string, number>();
      const expected = new Map<string, number>();
      for (const kind of KINDS) {
        const status = statusFor(ask, kind, state);
        expected.set(kind.name, status);
        const isCarriedOut = ask.subject === 'session' && status < 400 && asking.routeOf(ask).method !== 'GET';
        if (isCarriedOut) {
          actual.set(kind.name, await carriedOut(ask, kind, state));
          continue;
        }
        const response = await asking.send(ask, session, kind.token(session.id));
        const text = await textOf(response);
        actual.set(kind.name, response.status);
        if (kind.isOfTheTenant) expect(text, kind.name).not.toContain(CANARY[BLUE]);
        if (!kind.isOfTheTenant || response.status >= 400) expect(text, kind.name).not.toContain(CANARY[RED]);
        if (response.status === 404) expect(JSON.parse(text)).toMatchObject({ error: { code: 'not_found' } });
      }
      expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(expected));
      expect(await stage.standing(RED, session.id)).toEqual(before);
    },
  );
});
