// Tools behind an address: a server of your own that answers the operations of the contract environment/v1.
import { createServer } from 'node:http';
import { Brain, httpEnv } from '@aexhq/brain';

const SECRET = 'a secret that Brain shows to this server and to nobody else';

const server = createServer(async (request, response) => {
  if (request.headers.authorization !== `Bearer ${SECRET}`) {
    response.writeHead(401).end();
    return;
  }
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { contract, operation } = JSON.parse(Buffer.concat(chunks).toString());
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ contract, sequence: operation.sequence, receipt: receiptOf(operation) }));
});

function receiptOf({ session_id, sequence, request }) {
  // Setup, cancel, detach and teardown: here is nothing to do for them.
  if (request.type !== 'invoke') return { type: 'accepted' };
  if (request.tool !== 'weather') return { type: 'failure', code: 'unknown_tool', message: `there is no ${request.tool}`, retryable: false };
  console.log(`asked by ${session_id}/${sequence}`);
  return { type: 'result', output: `It is raining in ${request.input.city}.` };
}

await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const weather = httpEnv({
  name: 'weather-service',
  url: `http://127.0.0.1:${server.address().port}`,
  credential: { name: 'weather-key', value: SECRET },
  tools: [
    {
      name: 'weather',
      description: 'The weather in a city, now.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      effect: 'read',
    },
  ],
});

const brain = new Brain(process.env.BRAIN_URL ?? 'http://127.0.0.1:8080', process.env.BRAIN_API_KEY);
try {
  const session = await brain.sessions.create({ environments: [weather] });
  console.log((await session.send('call weather {"city": "Lisbon"}')).result?.text);
  await session.end();
  await session.delete();
} finally {
  await brain.close();
  server.close();
}
