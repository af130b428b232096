/** What a client waits for that does not wait for the turn: a create, a receipt, the first that a follower sees. */
import { dataDirectory, type Bench } from './bench.ts';
import { INPUT } from './client.ts';
import { Follower } from './follower.ts';
import { timed } from './load.ts';
import { ServerUnderTest } from './server-under-test.ts';
import { warmUp } from './warm-up.ts';

const SHORT_SAMPLES = 20;
const LONG_SAMPLES = 60;
/** As many as wait beside the one that runs. */
const QUEUE_MESSAGES = 16;

export async function measureMessages(bench: Bench): Promise<void> {
  const server = await ServerUnderTest.start({ dataDirectory: await dataDirectory(bench), modelUrl: bench.model.client.url });
  const samples = bench.isLong ? LONG_SAMPLES : SHORT_SAMPLES;
  const rounds = bench.isLong ? 9 : 5;
  await warmUp(server.client);
  for (let round = 0; round < rounds; round += 1) {
    const { findings, yardsticks } = bench;
    const created = await yardsticks.inFlushes(samples, async () => ({ create: await timed(() => server.client.create()) }));
    findings.add('create', created.create);
    await measureFirstEvents(bench, server, samples);
    await measureQueue(bench, server, samples);
  }
  await server.stop();
}

async function measureFirstEvents({ findings, yardsticks }: Bench, { client }: ServerUnderTest, samples: number): Promise<void> {
  const id = await client.create();
  const follower = await Follower.open(client.url, `/v1/sessions/${id}/events`);
  const told = await yardsticks.inFlushes(samples, async () => {
    const ended = follower.next('turn_ended');
    const firstEvent = follower.next('message_queued');
    const firstDelta = follower.next('model_delta');
    const sentAt = performance.now();
    const submitted = timed(() => client.submit(id, INPUT));
    const [receipt, event, delta] = await Promise.all([submitted, firstEvent, firstDelta, ended]);
    return { 'asynchronous message': receipt, 'first durable event': event - sentAt, 'first delta': delta - sentAt };
  });
  follower.close();
  findings.add('submit', told['asynchronous message']);
  findings.add('first_event', told['first durable event']);
  findings.add('first_delta', told['first delta']);
}

async function measureQueue({ findings, yardsticks }: Bench, { client }: ServerUnderTest, samples: number): Promise<void> {
  const id = await client.create();
  const follower = await Follower.open(client.url, `/v1/sessions/${id}/events`);
  const told = await yardsticks.inFlushes(samples, async () => {
    const ended = follower.next('turn_ended');
    const receipt = await timed(() => client.queue(id, INPUT));
    await ended;
    return { 'queued message': receipt };
  });
  findings.add('queue', told['queued message']);
  const startedAt = performance.now();
  const ended = follower.next('turn_ended', QUEUE_MESSAGES + 1);
  for (let sent = 0; sent <= QUEUE_MESSAGES; sent += 1) await client.queue(id, INPUT);
  findings.add('queue_drained', ((QUEUE_MESSAGES + 1) * 1000) / ((await ended) - startedAt));
  follower.close();
}
