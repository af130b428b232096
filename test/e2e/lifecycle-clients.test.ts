/** Readers of `/sessions` that nobody here wrote, while the server dies under them again and again. */
import type { Browser } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { launchChromium } from '../../bench/chromium.ts';
import { hasChromium } from '../support/chromium.ts';
import { inBrowser, withCurl, withLibrary, type EventClient, type Follow } from '../support/event-clients.ts';
import { eventually } from '../support/eventually.ts';
import { LifecycleApi } from '../support/lifecycle-api.ts';
import { says } from '../support/openai-server.ts';
import { Stage } from '../support/stage.ts';

const DEATHS = 3;
const TYPES = ['user.message', 'session.status', 'session.error', 'assistant.message', 'tool.call', 'tool.result'];

const browserIsThere = await hasChromium();

let stage: Stage | undefined;
let browser: Browser | undefined;
let client: EventClient | undefined;
afterEach(async () => {
  await client?.close();
  await browser?.close();
  await stage?.strike();
  client = undefined;
  browser = undefined;
});

/** A session whose server dies in the middle of a turn, again and again, and which is then closed. */
async function readOver(follow: Follow): Promise<void> {
  let isLast = false;
  stage = await Stage.set({ model: () => (isLast ? says('done') : { parts: [{ text: 'It takes ' }, { wait: new Promise(() => undefined) }] }) });
  const { server } = stage;
  const port = Number(new URL(server.url).port);
  const api = new LifecycleApi(server.url);
  const { id } = await api.create();
  const reading = await follow(`${server.url}/sessions/${id}/events`, TYPES);
  client = reading;
  const shows = async (text: string): Promise<void> => {
    await eventually(async () => ((await reading.seen()).some((data) => data.includes(text)) ? true : undefined), `${reading.name} to show ${text}`, 60_000);
  };

  for (let death = 1; death <= DEATHS; death += 1) {
    const { id: input } = await api.send(id, `message ${death}`);
    await shows(`"input_id":"${input}","status":"running"`);
    await server.kill();
    await server.start({}, port);
    await shows(`"input_id":"${input}","status":"failed"`);
    await api.resume(id);
  }
  isLast = true;
  await api.send(id, 'the last one');
  await shows('"text":"done"');
  await api.close(id);
  await shows('"status":"closed"');

  const events = await api.events(id);
  expect((await reading.seen()).map((data) => JSON.parse(data) as unknown)).toEqual(events);
  expect(events.filter(({ status }) => status === 'failed')).toHaveLength(DEATHS);
}

describe(`every event of a session, once and in order, across ${DEATHS} deaths of its server, is shown`, () => {
  it('L-064, L-078, L-082: by curl -N, started again with the last id', { timeout: 180_000 }, () => readOver(withCurl));

  it('L-064, L-078, L-082: by the package eventsource', { timeout: 180_000 }, () => readOver(withLibrary));

  it.skipIf(!browserIsThere)('L-064, L-078, L-082: by a browser’s EventSource', { timeout: 180_000 }, async () => {
    browser = await launchChromium();
    await readOver(inBrowser(browser));
  });
});
