// Serves the page, gives it the token of a host, and has a session ask for the page's title: GET /ask, while a page is open.
// BRAIN_CORS_ORIGINS of the server names the origin of this page: http://127.0.0.1:PORT
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Brain } from '@aexhq/brain';

const [bundle = 'page.js', port = '3000'] = process.argv.slice(2);
const baseUrl = process.env.BRAIN_URL ?? 'http://127.0.0.1:8080';
const key = process.env.BRAIN_API_KEY;
const brain = new Brain(baseUrl, key);

// What the page offers, declared for the sessions that name it. The page itself has no right to do that.
const declared = await fetch(`${baseUrl}/v1/environments/page`, {
  method: 'PUT',
  headers: { 'Content-Type': 'application/json', ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }) },
  body: JSON.stringify({
    driver: 'host',
    tools: [{ name: 'read_title', description: 'The title of the page that the user looks at.', input_schema: { type: 'object' }, effect: 'read' }],
  }),
});
if (!declared.ok) throw new Error(await declared.text());

const HTML = '<!doctype html><title>Fresh bread</title><body><script type="module" src="/page.js"></script></body>';

const server = createServer(async (request, response) => {
  if (request.url === '/page.js') {
    response.setHeader('Content-Type', 'text/javascript').end(await readFile(bundle));
  } else if (request.url === '/host') {
    // One incarnation for each load of the page: the last one has the name.
    const { host, token } = await brain.registerHost({ name: 'page', incarnation: randomUUID() });
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ baseUrl, host, hostToken: token }));
  } else if (request.url === '/ask') {
    const session = await brain.sessions.create({ environments: ['page'] });
    const { result } = await session.send('call read_title {}');
    response.setHeader('Content-Type', 'text/plain').end(result?.text);
  } else {
    response.setHeader('Content-Type', 'text/html').end(HTML);
  }
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
