// A program that serves the tools of an airline with the client. Each call is noted in a file before anything is done for
// it, and then done where the test can see it. `BRAIN_URL`, `TOOL_NAMES`, `CALLS_FILE`, `REMOTE_TOOLS_URL`.
import { appendFileSync } from 'node:fs';
import { Brain, hostEnv, tool } from '@aexhq/brain';

const { BRAIN_URL, TOOL_NAMES, CALLS_FILE, REMOTE_TOOLS_URL } = process.env;

const tools = JSON.parse(TOOL_NAMES).map((name) =>
  tool({
    name,
    description: 'an airline tool',
    input: { type: 'object' },
    async run(input, { sessionId, sequence, signal }) {
      appendFileSync(CALLS_FILE, `${sessionId}/${sequence}\n`);
      const body = JSON.stringify({ tool: name, session_id: sessionId, sequence, input });
      const response = await fetch(REMOTE_TOOLS_URL, { method: 'POST', body, signal });
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()).output;
    },
  }),
);

const brain = new Brain({ baseUrl: BRAIN_URL });
await brain.serve([hostEnv({ name: 'airline', tools })]);
console.log('serving');
