/** What a session takes while nothing happens in it, and whether memory comes back once all of them were in use. */
import { dataDirectory, type Bench } from './bench.ts';
import { inParallel } from './in-parallel.ts';
import { ServerUnderTest } from './server-under-test.ts';

const WIDTH = 32;

export async function measureMemory(bench: Bench): Promise<void> {
  const { findings, isLong } = bench;
  const few = isLong ? 1_000 : 500;
  const many = isLong ? 20_000 : 5_000;
  const server = await ServerUnderTest.startToWeigh({ dataDirectory: await dataDirectory(bench), modelUrl: bench.model.client.url });
  const create = (count: number): Promise<readonly string[]> => inParallel(Array.from({ length: count }), WIDTH, () => server.client.create());
  const first = await create(few);
  const light = await server.weigh();
  const rest = await create(many - few);
  const heavy = await server.weigh();
  findings.add('session_memory', (heavy - light) / (many - few));
  await inParallel([...first, ...rest], WIDTH, (id) => server.client.get(`/v1/sessions/${id}/transcript`));
  findings.add('memory_returned', (await server.weigh()) / heavy);
  findings.note(`memory of sessions: from ${few} to ${many} of them`);
  await server.stop();
}
