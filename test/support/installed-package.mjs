// A session with a tool of one's own, on a server in the same process: what somebody can do who installed the package alone.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Brain, tool } from '@aexhq/brain';
import { startServer } from '@aexhq/brain/server';

const directory = await mkdtemp(path.join(tmpdir(), 'brain-installed-'));
const server = await startServer({ BRAIN_DATA_DIR: path.join(directory, 'data'), BRAIN_LISTEN: '127.0.0.1:0', BRAIN_LOG_LEVEL: 'error' });
const brain = new Brain(server.url);
try {
  const mark = tool({ name: 'mark', description: 'Marks.', input: { type: 'object' }, run: () => 'marked' });
  const session = await brain.sessions.create({ model: { provider: 'demo', name: 'echo' }, tools: [mark] });
  const turn = await session.send('call mark {}');
  console.log(`Node ${process.versions.node.split('.')[0]}: ${turn.outcome}, ${turn.result.text}`);
  await session.end();
} finally {
  await brain.close();
  await server.stop();
  await rm(directory, { recursive: true });
}
