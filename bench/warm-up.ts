/**
 * What goes before a measurement of time. A server that has just started compiles what it does as it finds out how often it
 * does it: its first turns take twice the processor time that they take once some two thousand are over. A server in use has
 * them behind it, and so has the one that is measured.
 */
import { INPUT, TOOL_SESSION, type Client } from './client.ts';
import { Follower } from './follower.ts';
import { inParallel } from './in-parallel.ts';

const SESSIONS = 64;
const TURNS_EACH = 36;
const TOOL_SESSIONS = 16;
const TOOL_TURNS_EACH = 6;
/** Of what a client asks for otherwise: creates, messages that are not waited for, and those of the other surface. */
const OTHERS = 320;
const FOLLOWED = 8;

export async function warmUp(client: Client): Promise<void> {
  const plain = await createMany(client, SESSIONS);
  await inParallel(plain, SESSIONS, (id) => sendMany(client, id, TURNS_EACH));
  const tooled = await inParallel(Array.from({ length: TOOL_SESSIONS }), TOOL_SESSIONS, () => client.create(TOOL_SESSION));
  await inParallel(tooled, TOOL_SESSIONS, (id) => sendMany(client, id, TOOL_TURNS_EACH));
  await createMany(client, OTHERS);
  await inParallel(await createMany(client, FOLLOWED), FOLLOWED, (id) => followMany(client, id, OTHERS / FOLLOWED));
}

async function createMany(client: Client, count: number): Promise<readonly string[]> {
  return inParallel(Array.from({ length: count }), SESSIONS, () => client.create());
}

async function sendMany(client: Client, id: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) await client.send(id, INPUT);
}

async function followMany(client: Client, id: string, count: number): Promise<void> {
  const follower = await Follower.open(client.url, `/v1/sessions/${id}/events`);
  for (let sent = 0; sent < count; sent += 1) {
    const ended = follower.next('turn_ended', 2);
    await client.submit(id, INPUT);
    await client.queue(id, INPUT);
    await ended;
  }
  follower.close();
}
