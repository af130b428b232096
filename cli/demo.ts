/**
 * `npm run demo`: what Brain is for, in a few seconds. A server is killed while a tool runs; started again on the same
 * directory, it explains what happened to the turn, and the conversation goes on.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSession, eventsAfter, follow, submit, type ShownEvent } from './demo/demo-client.ts';
import { DemoServer } from './demo/demo-server.ts';
import { Narration } from './demo/narration.ts';

const narration = new Narration({
  write: (text) => process.stdout.write(text),
  hasColors: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
});
const startedAt = performance.now();
const dataDirectory = await mkdtemp(path.join(tmpdir(), 'brain-demo-'));
const servers: DemoServer[] = [];
process.once('SIGINT', () => {
  leave(130);
});
process.once('SIGTERM', () => {
  leave(143);
});
try {
  await tell();
} catch (error) {
  narration.alarm(`The demonstration failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await cleanUp();
}

async function tell(): Promise<void> {
  narration.title('Brain: a server is killed in the middle of a turn, and loses nothing.');

  narration.step(1, 'Start a server on an empty data directory.');
  const first = await startServer();

  narration.step(2, 'Create a session on the built-in model, demo/echo.');
  const { session_id: id, tools } = await createSession(first.url);
  narration.note(`POST /v1/sessions {} -> ${id}, tools: ${tools.join(', ')}`);

  narration.step(3, 'Send a message and watch its turn: each effect is in the journal before it happens.');
  const seen = await watchTurn(first, id, { input: 'What is 19 + 23?', after: 0, until: isEndOfTurn });

  narration.step(4, 'Send another. While its tool runs, kill the server: kill -9, no goodbye.');
  const killedAt = await watchTurn(first, id, {
    input: 'Please wait 60 seconds.',
    after: seen,
    until: ({ type }) => type === 'tool_call_started',
  });
  await first.kill();
  narration.alarm(`kill -9 ${first.pid}: the process is gone, the tool had just begun`);

  narration.step(5, 'Start it again on the same directory, and read the events after the last one seen.');
  const second = await startServer();
  const recovered = await eventsAfter(second.url, id, killedAt);
  for (const event of recovered) narration.event(event);
  narration.note('The tool may have done its work: "unknown" says so, and it was not called again.');

  narration.step(6, 'The conversation goes on.');
  await watchTurn(second, id, { input: 'Are you still there?', after: recovered.at(-1)?.sequence ?? killedAt, until: isEndOfTurn });

  narration.step(7, 'Done.');
  narration.success(`${((performance.now() - startedAt) / 1000).toFixed(1)} seconds, one kill, nothing lost and nothing done twice.`);
}

async function startServer(): Promise<DemoServer> {
  const server = await DemoServer.start(dataDirectory);
  servers.push(server);
  narration.note(`brain listens on ${server.url} (process ${server.pid})`);
  return server;
}

/** Sends a message and shows what follows, until something has happened; answers the last sequence that was shown. */
async function watchTurn(
  server: DemoServer,
  id: string,
  turn: { readonly input: string; readonly after: number; readonly until: (event: ShownEvent) => boolean },
): Promise<number> {
  await submit(server.url, id, turn.input);
  let last = turn.after;
  for await (const event of follow(server.url, id, turn.after)) {
    narration.event(event);
    last = event.sequence ?? last;
    if (turn.until(event)) break;
  }
  return last;
}

function isEndOfTurn({ type }: ShownEvent): boolean {
  return type === 'turn_ended' || type === 'turn_failed';
}

async function cleanUp(): Promise<void> {
  for (const server of servers) await server.kill();
  await rm(dataDirectory, { recursive: true, force: true });
}

function leave(code: number): void {
  cleanUp().then(
    () => process.exit(code),
    () => process.exit(code),
  );
}
