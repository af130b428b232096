/** The routes of a read-only look: what they show, whom they take, and what they refuse in its words. */
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findSessions } from '../../cli/inspect.ts';
import { createLookApp, type HttpApp } from '../../http/server.ts';
import { SessionLook } from '../../services/session-look.ts';
import { systemClock } from '../../services/system.ts';
import { segmentName } from '../../storage/segment.ts';
import { SMALL_PAGE } from '../support/fake-page.ts';
import { errorOf } from '../support/http-stage.ts';
import { DATA, TENANT } from '../support/living-brain.ts';
import { RETURNED, TurnStage } from '../support/turn-stage.ts';

let stage: TurnStage;
let app: HttpApp;
let url = '';

beforeEach(async () => {
  stage = await TurnStage.set(() => Promise.resolve(RETURNED), { session: { metadata: { team: 'red' } } });
  await stage.send();
  const process = stage.brain.disk.boot();
  const silent = (): void => undefined;
  app = createLookApp({
    sessions: new SessionLook(process, () => findSessions(process, DATA)),
    page: SMALL_PAGE,
    clock: systemClock,
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  const { port } = await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${port}`;
});

afterEach(async () => {
  await app.close({ withinMs: 0 });
});

const get = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> => fetch(`${url}${path}`, { headers });
const json = async (path: string): Promise<unknown> => (await get(path)).json();

describe('a read-only look', () => {
  it('shows the list, each session, its journal, its events and its transcript, and the page that reads them', async () => {
    const id = stage.sessionId;
    const records = await stage.brain.journal(id);
    expect(await json('/v1/sessions?metadata.team=red&status=idle')).toMatchObject({ sessions: [{ session_id: id, tenant: TENANT }], next_cursor: null });
    expect(await json(`/v1/sessions/${id}`)).toMatchObject({ session_id: id, last_sequence: records.length, resident: false });
    expect(await json(`/v1/sessions/${id}/journal`)).toEqual({ records, next_cursor: records.length });
    expect(await json(`/v1/sessions/${id}/events?types=turn_ended`)).toMatchObject({ events: [{ type: 'turn_ended' }] });
    expect(await json(`/v1/sessions/${id}/transcript`)).toMatchObject({ through_sequence: records.length });
    const front = await get('/');
    expect([front.url, front.status]).toEqual([`${url}/inspector`, 200]);
  });

  it('streams what is there and ends, and says that it is over to whoever comes back', async () => {
    const path = `/v1/sessions/${stage.sessionId}/journal`;
    const stream = await get(`${path}?after=1`, { accept: 'text/event-stream' });
    const ids = [...(await stream.text()).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    const { length } = await stage.brain.journal(stage.sessionId);

    expect(ids).toEqual(Array.from({ length: length - 1 }, (_, index) => index + 2));
    expect((await get(path, { accept: 'text/event-stream', 'last-event-id': String(length) })).status).toBe(204);
  });

  it.each([
    ['POST', '/v1/sessions'],
    ['DELETE', '/v1/sessions/ID'],
    ['PATCH', '/v1/sessions/ID'],
    ['POST', '/v1/sessions/ID/messages'],
    ['POST', '/v1/sessions/ID/resume'],
    ['PUT', '/v1/credentials/openai'],
    ['POST', '/nothing'],
  ])('refuses %s %s as what it is no place for', async (method, template) => {
    const before = stage.brain.disk.files(DATA).map((path) => [path, stage.brain.disk.contents(path)]);
    const response = await fetch(`${url}${template.replace('ID', stage.sessionId)}`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await errorOf(response)).message).toContain('a read-only look');
    expect(stage.brain.disk.files(DATA).map((path) => [path, stage.brain.disk.contents(path)])).toEqual(before);
  });

  it('tells with everything that it answers, refusals too, that it takes reads only', async () => {
    const paths = [`/v1/sessions/${stage.sessionId}`, '/v1/sessions', '/v1/sessions/nobody', '/nothing', '/inspector'];
    const answers = await Promise.all(paths.map((path) => get(path)));
    expect(answers.map((answer) => answer.headers.get('allow'))).toEqual(paths.map(() => 'GET, HEAD'));
  });

  it.each(['/v1/credentials', '/sessions', '/nothing'])('has nothing at %s', async (path) => {
    const response = await get(path);
    expect([response.status, (await errorOf(response)).message]).toEqual([403, expect.stringContaining('a read-only look')]);
  });

  it('takes nobody who comes under another name than a loopback one, whatever token that shows', async () => {
    const status = await new Promise((resolve, reject) => {
      const asked = request(`${url}/v1/sessions`, { headers: { host: 'rebound.example', authorization: 'Bearer x' } }, (response) => resolve(response.resume().statusCode));
      asked.once('error', reject).end();
    });
    expect(status).toBe(403);
    expect((await get('/v1/sessions', { authorization: 'Bearer of-another-server' })).status).toBe(200);
  });

  it('answers for a damaged session with the file and the byte', async () => {
    const file = `sessions/${stage.sessionId}/journal/${segmentName(1)}`;
    stage.brain.disk.damage(`${DATA}/${file}`, (bytes) => bytes.with(0, 0x20));
    const response = await get(`/v1/sessions/${stage.sessionId}`);
    expect([response.status, await errorOf(response)]).toMatchObject([500, { code: 'journal_corrupt', details: { file, offset: 0 } }]);
    expect(await json('/v1/sessions')).toMatchObject({ sessions: [{ damaged: true, explanation: expect.stringContaining(`${file} is damaged at byte 0`) }] });
  });
});
