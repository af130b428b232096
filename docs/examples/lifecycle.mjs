// From the creation of a session to its removal. Whatever fails on the way, the client lets go of its connections.
import { Brain } from '@aexhq/brain';

const brain = new Brain(process.env.BRAIN_URL ?? 'http://127.0.0.1:8080', process.env.BRAIN_API_KEY);
try {
  const session = await brain.sessions.create({ model: { provider: 'demo', name: 'echo' }, metadata: { purpose: 'example' } });
  await session.send('Hello');

  let cursor = 0;
  for await (const event of session.events(cursor)) {
    console.log(event.sequence, event.type);
    cursor = event.sequence;
  }

  await session.end();
  console.log(session.status);
  await session.delete();
} finally {
  await brain.close();
}
