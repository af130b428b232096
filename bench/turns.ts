/** Turns: how long one takes, and how many a second. What the scripted model takes of it is not the server's. */
import { dataDirectory, type Bench } from './bench.ts';
import { INPUT, PLAIN_SESSION, TOOL_SESSION } from './client.ts';
import { inParallel } from './in-parallel.ts';
import { rateOf, timed } from './load.ts';
import { ServerUnderTest } from './server-under-test.ts';
import { p50 } from './statistics.ts';
import { warmUp } from './warm-up.ts';

/** What a client of the model would send of its own: as large as the first request of a session. */
const MODEL_REQUEST = { model: 'plain', stream: true, messages: [{ role: 'user', content: INPUT }] };
const ANSWER = 'Four pieces of a text that nobody has to wait for.';
/** Of a turn with two rounds of tools: one each, and one for the answer. */
const TOOL_LOOP_MODEL_CALLS = 3;
/** As many as the percentile needs, and more where there is time. */
const SHORT_SAMPLES = 20;
const LONG_SAMPLES = 60;
// Long enough for several turns of each of 256 sessions: what is under way at the end does not count.
const SHORT_LOAD_SECONDS = 1.6;
const LONG_LOAD_SECONDS = 4;
const CREATE_WIDTH = 16;
/** What was said before, in the conversations whose turns are compared. */
const TURNS_BEFORE = 400;

export async function measureTurns(bench: Bench): Promise<void> {
  const { findings, yardsticks, isLong, profileDirectory } = bench;
  const nodeFlags = profileDirectory === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`];
  const server = await ServerUnderTest.start({ dataDirectory: await dataDirectory(bench), modelUrl: bench.model.client.url, nodeFlags });
  const samples = isLong ? LONG_SAMPLES : SHORT_SAMPLES;
  const rounds = isLong ? 9 : 5;
  await warmUp(server.client);
  for (let round = 0; round < rounds; round += 1) {
    findings.add('turn_echo', await turnMs(bench, server, samples) / (await yardsticks.echoMs(4 * samples)));
    await measureToolLoop(bench, server, samples);
    await measureRates(bench, server, isLong ? LONG_LOAD_SECONDS : SHORT_LOAD_SECONDS);
  }
  await measureGrowth(bench, server, samples);
  await server.stop();
}

/** Answers its p50, less the model's time, and tells it in F. */
async function turnMs({ findings, yardsticks, model }: Bench, { client }: ServerUnderTest, samples: number): Promise<number> {
  const released = await client.create();
  const resident = await client.create({ ...PLAIN_SESSION, idle_ttl_ms: 0 });
  const told = await yardsticks.inFlushes(samples, async () => ({
    'model call': await timed(() => model.client.post('/v1/chat/completions', MODEL_REQUEST)),
    'synchronous turn': await timed(() => client.send(released, INPUT)),
    'turn, session in memory': await timed(() => client.send(resident, INPUT)),
  }));
  const own = told['synchronous turn'] - told['model call'];
  findings.add('turn', own);
  findings.add('turn_resident', told['turn, session in memory'] - told['model call']);
  return p50(findings.latency('synchronous turn').slice(-samples)) - p50(findings.latency('model call').slice(-samples));
}

/** A turn of a conversation that is long, over one of a conversation that begins, each less what the model takes to read it. */
async function measureGrowth({ findings, yardsticks, model }: Bench, { client }: ServerUnderTest, samples: number): Promise<void> {
  const grown = await client.create();
  for (let turn = 0; turn < TURNS_BEFORE; turn += 1) await client.send(grown, INPUT);
  const said = Array.from({ length: TURNS_BEFORE }, () => [...MODEL_REQUEST.messages, { role: 'assistant', content: ANSWER }]).flat();
  const longRequest = { ...MODEL_REQUEST, messages: [...said, ...MODEL_REQUEST.messages] };
  const begun = await client.create();
  const told = await yardsticks.inFlushes(samples, async () => ({
    'model call': await timed(() => model.client.post('/v1/chat/completions', MODEL_REQUEST)),
    'model call, long conversation': await timed(() => model.client.post('/v1/chat/completions', longRequest)),
    'turn, new conversation': await timed(() => client.send(begun, INPUT)),
    'turn, long conversation': await timed(() => client.send(grown, INPUT)),
  }));
  const long = told['turn, long conversation'] - told['model call, long conversation'];
  findings.add('turn_growth', long / (told['turn, new conversation'] - told['model call']));
}

async function measureToolLoop({ findings, yardsticks, model }: Bench, { client }: ServerUnderTest, samples: number): Promise<void> {
  const id = await client.create(TOOL_SESSION);
  const told = await yardsticks.inFlushes(samples, async () => ({
    'model call': await timed(() => model.client.post('/v1/chat/completions', MODEL_REQUEST)),
    'tool loop': await timed(() => client.send(id, INPUT)),
  }));
  findings.add('tool_loop', told['tool loop'] - TOOL_LOOP_MODEL_CALLS * told['model call']);
}

async function measureRates({ findings, yardsticks, model, cores }: Bench, { client }: ServerUnderTest, seconds: number): Promise<void> {
  const rateWith = async (sessions: number): Promise<number> => {
    const ids = await inParallel(Array.from({ length: sessions }), CREATE_WIDTH, () => client.create());
    const modelBefore = await model.processorSeconds();
    const { count, total } = await rateOf(ids.map((id) => () => client.send(id, INPUT)), seconds);
    const modelSeconds = ((await model.processorSeconds()) - modelBefore) * (count / total);
    // The model takes a part of the machine that a real one would not.
    return count / (seconds - modelSeconds / cores);
  };
  const before = await yardsticks.echoRate(seconds / 2);
  findings.add('turns_1', await rateWith(1));
  const of64 = await rateWith(64);
  const after = await yardsticks.echoRate(seconds / 2);
  const of256 = await rateWith(256);
  findings.add('turns_64', of64);
  findings.add('turns_64_echo', of64 / ((before + after) / 2));
  findings.add('turns_256', of256);
  findings.add('turns_256_over_64', of256 / of64);
}
