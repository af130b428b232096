// An agent as the tool of another. Where the call is cancelled, the child's turn is cancelled with it.
import { Brain, tool } from '@aexhq/brain';
import { z } from 'zod';

const brain = new Brain(process.env.BRAIN_URL ?? 'http://127.0.0.1:8080', process.env.BRAIN_API_KEY);

const research = tool({
  name: 'research',
  description: 'Asks a researcher.',
  input: z.object({ question: z.string() }),
  async run({ question }, { signal, sessionId, sequence }) {
    // A child of this call alone, with a key of this call: nobody else sends to it.
    const child = await brain.sessions.create({ system: 'You look things up.', tools: [] }, { idempotencyKey: `${sessionId}/${sequence}` });
    const turn = await child.send(question, { signal });
    await child.end();
    return turn.result?.text ?? { failed: turn.error };
  },
});

try {
  const session = await brain.sessions.create({ tools: [research] });
  console.log((await session.send('call research {"question": "How high is the Eiffel Tower?"}')).result?.text);
} finally {
  await brain.close();
}
