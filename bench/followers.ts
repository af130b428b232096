/** Many who follow one session: when an event is with all of them, and what one that hears nothing costs. */
import { dataDirectory, type Bench } from './bench.ts';
import { INPUT } from './client.ts';
import type { FigureName } from './figure-table.ts';
import { Follower } from './follower.ts';
import { inParallel } from './in-parallel.ts';
import { ServerUnderTest } from './server-under-test.ts';
import { warmUp } from './warm-up.ts';

const OPEN_WIDTH = 32;
/**
 * Those that are opened first bring about what all of them share, and what a server in use has anyway: the part of its heap
 * that new objects are made in grows to its 32 MiB as some hundred of them stay.
 */
const IDLE_BEFORE = 1_000;

export async function measureFollowers(bench: Bench): Promise<void> {
  const { isLong } = bench;
  const server = await ServerUnderTest.startToWeigh({ dataDirectory: await dataDirectory(bench), modelUrl: bench.model.client.url });
  await weighIdle(bench, server, isLong ? 5_000 : 1_000);
  await warmUp(server.client);
  await measureFanOut(bench, server, { name: 'fan_out_1', count: 1, rounds: isLong ? 40 : 20 });
  await measureFanOut(bench, server, { name: 'fan_out_100', count: 100, rounds: isLong ? 20 : 10 });
  if (isLong) await measureFanOut(bench, server, { name: 'fan_out_5000', count: 5_000, rounds: 5 });
  await server.stop();
}

async function follow({ client }: ServerUnderTest, id: string, count: number): Promise<readonly Follower[]> {
  return inParallel(Array.from({ length: count }), OPEN_WIDTH, () => Follower.open(client.url, `/v1/sessions/${id}/events`));
}

async function weighIdle({ findings }: Bench, server: ServerUnderTest, count: number): Promise<void> {
  const id = await server.client.create();
  const few = await follow(server, id, IDLE_BEFORE);
  const before = await server.weigh();
  const more = await follow(server, id, count);
  findings.add('follower_memory', ((await server.weigh()) - before) / count);
  for (const follower of [...few, ...more]) follower.close();
}

async function measureFanOut({ findings }: Bench, server: ServerUnderTest, { name, count, rounds }: { readonly name: FigureName; readonly count: number; readonly rounds: number }): Promise<void> {
  const id = await server.client.create();
  const followers = await follow(server, id, count);
  for (let round = 0; round < rounds; round += 1) {
    const ended = followers.map((follower) => follower.next('turn_ended'));
    const heard = followers.map((follower) => follower.next('message_queued'));
    const sentAt = performance.now();
    await server.client.submit(id, INPUT);
    findings.add(name, Math.max(...(await Promise.all(heard))) - sentAt);
    await Promise.all(ended);
  }
  for (const follower of followers) follower.close();
}
