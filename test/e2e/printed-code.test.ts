/** The code by which the client is explained, compiled and run as it is printed: only the server's address is put in. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const KEY = 'the-key-of-what-is-printed';

const CLIENT = `import { Brain } from "@aexhq/brain";

const brain = new Brain("http://127.0.0.1:8080", process.env.BRAIN_API_KEY!);`;

const READ = `let cursor = 0;
for await (const event of session.events(cursor)) {
  await handle(event);
  cursor = event.sequence;
  await saveCursor(cursor);
}`;

let server: ServerProcess;
let project: string;

beforeAll(async () => {
  server = await ServerProcess.start({ environment: { BRAIN_API_KEY: KEY } });
  project = await mkdtemp(path.join(tmpdir(), 'brain-printed-'));
  await mkdir(path.join(project, 'node_modules/@aexhq'), { recursive: true });
  await symlink(ROOT, path.join(project, 'node_modules/@aexhq/brain'));
  await writeFile(path.join(project, 'package.json'), '{"type":"module"}');
});

afterAll(async () => {
  await server.dispose();
  await rm(project, { recursive: true });
});

/** What a program says, which the compiler has nothing against. `report` and the printed client are there. */
async function said(name: string, program: string): Promise<Readonly<Record<string, unknown>>> {
  const file = path.join(project, `${name}.ts`);
  const client = CLIENT.replace('http://127.0.0.1:8080', server.url);
  await writeFile(file, `${client}\nconst said: Record<string, unknown> = {};\n${program}\nconsole.log(JSON.stringify(said));\n`);
  const options = ['--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--typeRoots', path.join(ROOT, 'node_modules/@types')];
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, ...options, file], { cwd: project }).catch((error: unknown) => {
    throw new Error((error as { readonly stdout: string }).stdout);
  });
  const env = { PATH: process.env['PATH'], BRAIN_API_KEY: KEY };
  const { stdout } = await run(process.execPath, [path.join(project, `${name}.js`)], { env, timeout: 60_000 });
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>;
}

describe('the printed code', () => {
  it('L-007, S-084, S-177, S-178, S-195, S-206, S-215: submits, reads from a cursor, interrupts, and closes the client at last', async () => {
    const answer = await said(
      'sessions',
      `import type { RecordedEvent } from "@aexhq/brain";
const types: string[] = [];
async function handle(event: RecordedEvent): Promise<void> { types.push(event.type); }
async function saveCursor(cursor: number): Promise<void> { said.saved = cursor; }
const other = brain.withToken(process.env.BRAIN_API_KEY!);
const unneeded = brain.withToken(process.env.BRAIN_API_KEY!);
await unneeded.close();
try {
  const session = await brain.sessions.create({ idleTtlMs: 0, tools: ["wait"] });
  const input = "hello";
  const idempotencyKey = "turn-1";
  const receipt = await session.submit(input, { idempotencyKey });
  said.receipt = Object.keys(receipt).sort();
  said.isTheSame = JSON.stringify(await session.submit(input, { idempotencyKey })) === JSON.stringify(receipt);
  for await (const event of session.stream({ after: receipt.sequence })) if (event.type === "turn_ended") break;
  said.cached = session.status;
  ${READ}
  said.read = [types[0], types.at(-1), said.saved === cursor];
  const transcript = await session.transcript();
  said.transcript = [transcript.messages.length, transcript.through_sequence <= cursor];

  const { sequence } = await session.submit("wait 60 seconds", { idempotencyKey: "turn-2" });
  await session.interrupt();
  for await (const event of session.stream({ after: sequence })) if (event.type === "turn_failed") { said.interrupted = event.data.code; break; }
  said.next = (await session.send(input)).outcome;
  await session.end();
  said.refused = await session.send(input).catch((error) => error.code);
  said.history = (await session.transcript()).messages.length > 2;
  await session.delete();
} finally {
  await brain.close();
}
await brain.close();
said.closed = await brain.list().catch((error) => error.name);
said.other = (await other.list()).sessions.length;
await other.close();`,
    );

    expect(answer).toEqual({
      receipt: ['sequence', 'session_id'],
      isTheSame: true,
      cached: 'idle',
      saved: expect.any(Number) as number,
      read: ['session_created', 'turn_ended', true],
      transcript: [2, true],
      interrupted: 'cancelled',
      next: 'ended',
      refused: 'session_ended',
      history: true,
      closed: 'BrainClosedError',
      other: 0,
    });
  });

  it('S-224: hands the signal of a tool on to the child that it asks', async () => {
    const answer = await said(
      'child',
      `import { tool } from "@aexhq/brain";
const child = await brain.sessions.create({ tools: ["wait"] });
const delegate = tool({
  name: "delegate",
  description: "Asks another agent.",
  input: { type: "object" },
  async run(_, context) {
    const input = "wait 60 seconds";
    return await child.send(input, { signal: context.signal });
  },
});
try {
  const session = await brain.sessions.create({ tools: [delegate] });
  const turn = session.send("call delegate {}");
  for await (const event of child.stream()) if (event.type === "tool_call_started") break;
  await session.interrupt();
  said.turn = (await turn).error?.code;
  for await (const event of child.stream()) if (event.type === "turn_failed") { said.child = event.data.code; break; }
} finally {
  await brain.close();
}`,
    );

    expect(answer).toEqual({ turn: 'cancelled', child: 'cancelled' });
  });

  it('L-005, L-006, L-007, L-128: makes, lists and gets sessions, and goes on after the cursor that was kept', async () => {
    const answer = await said(
      'lifecycle',
      `const session = await brain.create({ harness: "pi", config: { model: "demo/echo", instructions: "Answer in one paragraph.", tools: [] } });
await brain.create({ harness: "chat", config: { model: "demo/echo" } });
const sent = await session.queue("Summarize our plan.", { key: "msg-0001" });
said.isTheSame = (await session.queue("Summarize our plan.", { key: "msg-0001" })).id === sent.id;
const types: string[] = [];
let cursor = "0";
for await (const event of session.stream({ after: cursor })) {
  if (event.id === undefined) continue;
  types.push(event.type);
  cursor = event.id;
  break;
}
for await (const event of session.stream({ after: cursor })) {
  if (event.id === undefined) continue;
  types.push(event.type);
  cursor = event.id;
  if (event.type === "session.status" && event.status === "idle" && event.input_id === sent.id) break;
}
said.types = types;
await session.interrupt();
const id = session.id;
said.status = (await brain.get(id)).status;
said.resumed = (await session.resume()).status;
const limit = 1;
const first = await brain.list(undefined, limit);
const after = first.sessions.at(-1)?.id;
said.listed = [first.sessions.length, (await brain.list(after, limit)).sessions.length, after! < (await brain.list(after, limit)).sessions[0]!.id];
await session.close();
said.closed = (await brain.get(id)).status;
await brain.close();`,
    );

    expect(answer).toEqual({
      isTheSame: true,
      types: ['user.message', 'session.status', 'assistant.message', 'session.status'],
      status: 'idle',
      resumed: 'idle',
      listed: [1, 1, true],
      closed: 'closed',
    });
  });
});
