/** What a conversation takes on the disk, over what is said in it. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { dataDirectory, type Bench } from './bench.ts';
import { CONVERSATIONS, RECORDED_TOOLS, spokenBytes } from './conversation.ts';
import { ServerUnderTest } from './server-under-test.ts';

const SHORT_CONVERSATIONS = 5;

export async function measureJournalBytes(bench: Bench): Promise<void> {
  const { findings, isLong, model } = bench;
  const directory = await dataDirectory(bench);
  const server = await ServerUnderTest.start({ dataDirectory: directory, modelUrl: model.client.url });
  const { conversations, source, system } = CONVERSATIONS;
  const played = isLong ? conversations : conversations.slice(0, SHORT_CONVERSATIONS);
  for (const conversation of played) {
    await model.client.post('/script', conversation.turns.flatMap(({ steps }) => steps));
    const id = await server.client.create({ model: { provider: 'openai', name: 'recorded' }, system, tools: RECORDED_TOOLS });
    for (const { input } of conversation.turns) await server.client.send(id, input);
    const said = Buffer.byteLength(system) + spokenBytes(conversation);
    findings.add('journal_bytes', (await journalBytes(directory, id)) / said);
  }
  findings.note(`journal bytes: ${source}, ${played.length} of ${conversations.length}; the system prompt counts as said once`);
  await server.stop();
}

async function journalBytes(directory: string, id: string): Promise<number> {
  const folder = path.join(directory, 'sessions', id, 'journal');
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(path.join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
