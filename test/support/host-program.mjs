// A program that serves one tool with the client, and says each call that it runs. `BRAIN_URL`, and what to do in `HOST_MODE`.
import { Brain, hostEnv, tool } from '@aexhq/brain';

const brain = new Brain({ baseUrl: process.env.BRAIN_URL, host: 'program' });
const mark = tool({
  name: 'mark',
  description: 'Marks.',
  input: { type: 'object' },
  async run(_, { sequence, sessionId, signal }) {
    console.log(`called ${sessionId}/${sequence}`);
    if (process.env.HOST_MODE === 'hangs') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return `marked by ${process.env.HOST_NAME}`;
  },
});
await brain.serve([hostEnv({ name: 'program', tools: [mark] })]);
console.log('serving');
