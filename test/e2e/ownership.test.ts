/** Whose a session is: nobody's more than anybody else's of its tenant. */
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { faultsOf } from '../support/history.ts';
import { Stage } from '../support/stage.ts';

let stage: Stage;
afterEach(async () => stage.strike());

/** Creates a session over a connection of its own, reads the answer, and is gone: its id. */
async function createAndLeave(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const body = JSON.stringify({ model: { provider: 'openai', name: 'scripted' }, tools: [] });
  const socket = connect(Number(port), hostname);
  const head = `POST /v1/sessions HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  socket.write(head + body);
  const id = await eventually(async () => /"session_id":"([0-9a-f]{32})"/.exec(answer)?.[1], 'the answer to the create');
  socket.destroy();
  return id;
}

describe('a session whose creator is gone', () => {
  it('S-228: goes on as it was, and whoever else may use it may stop, end and delete it', async () => {
    let finish: (() => void) | undefined;
    const wait = new Promise<void>((resolve) => (finish = resolve));
    stage = await Stage.set({ model: (call) => (call.index === 0 ? { parts: [{ text: 'Well' }, { wait }, { text: ' done' }] } : { parts: [{ text: 'Hm' }, { wait: new Promise(() => undefined) }] }) });
    const id = await createAndLeave(stage.server.api.url);
    const sent = stage.api.send(id, 'hello');
    await stage.model.calls.at(0);
    const other = await createAndLeave(stage.server.api.url);
    finish?.();
    expect(await sent).toMatchObject({ outcome: 'ended', result: { text: 'Well done' } });

    await stage.api.submit(id, 'again');
    await stage.model.calls.at(1);
    await stage.api.cancel(id);
    const ended = await stage.api.end(id);

    expect(ended.status).toBe('ended');
    expect(faultsOf(await stage.api.journal(id))).toEqual([]);
    await stage.api.delete(id);
    expect((await stage.api.sessions()).sessions.map(({ session_id }) => session_id)).toEqual([other]);
    expect((await stage.api.session(other)).status).toBe('idle');
  });
});
