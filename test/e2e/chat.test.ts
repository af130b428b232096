/** `npm run chat`, at a terminal of a test's own, with a server that is killed meanwhile. */
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Conversation } from '../../cli/chat/conversation.ts';
import { Brain } from '../../client/index.ts';
import { eventually } from '../support/eventually.ts';
import { ServerProcess } from '../support/server-process.ts';

let server: ServerProcess;
let brain: Brain;
let held: Promise<void>;
let conversation: Conversation;
let keyboard: PassThrough;
let screen = '';

beforeEach(async () => {
  server = await ServerProcess.start();
  screen = '';
  brain = new Brain({ baseUrl: server.url, host: 'chat', onError: () => undefined });
  keyboard = new PassThrough();
  conversation = new Conversation(brain, { lines: keyboard, write: (text) => void (screen += text), now: () => new Date(0), model: 'demo/echo' });
  held = conversation.hold();
  await shows(/> $/);
});
afterEach(async () => {
  conversation.leave();
  await held;
  await brain.close();
  await server.dispose();
});

async function shows(what: RegExp): Promise<void> {
  await eventually(async () => (what.test(screen) ? true : undefined), `the screen to show ${what.source}; it shows ${screen}`);
}

describe('a conversation in the terminal', () => {
  it('shows what is answered, and the call of a tool that runs beside it', async () => {
    keyboard.write('call clock {}\n');
    await shows(/\[clock \{\}\]\n\["1970-01-01T00:00:00.000Z"\]\n[^]*1970[^]*> $/);
    keyboard.end();
    await held;
  });

  it('outlives a kill of the server, says that the call is unknown, and goes on', async () => {
    keyboard.write('call slow_clock {"seconds":300}\n');
    await shows(/\[slow_clock /);
    const { port } = new URL(server.url);
    await server.kill();
    await server.start({}, Number(port));
    // The first to look finds the session recovered: here that is the reader who comes back.
    await shows(/\[the call is unknown: the server was stopped[^]*\(the turn was lost[^]*> $/);
    keyboard.write('call clock {}\n');
    await shows(/unknown[^]*\["1970-01-01T00:00:00.000Z"\][^]*> $/);
  });

  it('says a thing once that was said while the server was away', async () => {
    const { port } = new URL(server.url);
    await server.kill();
    keyboard.write('hello\n');
    await shows(/the server is away/);
    await server.start({}, Number(port));
    await shows(/You said: hello\n> $/);
    expect(screen.match(/You said/g)).toHaveLength(1);
  });

  it('stops the turn at the first interrupt, and leaves at the second', async () => {
    keyboard.write('call slow_clock {"seconds":300}\n');
    await shows(/\[slow_clock /);
    conversation.interrupt();
    await shows(/\[the call was cancelled[^]*\(the turn failed: cancelled[^]*> $/);
    keyboard.write('call slow_clock {"seconds":300}\n');
    await shows(/cancelled[^]*\[slow_clock /);
    conversation.interrupt();
    conversation.interrupt();
    await held;
  });
});
