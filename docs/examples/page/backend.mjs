// Serves the page and gives it the token of a host, and asks for the page's title when somebody looks at it.
// BRAIN_CORS_ORIGINS of the server names the origin of this page: http://127.0.0.1:PORT
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Brain } from '@aexhq/brain';

const [bundle = 'page.js', port = '3000'] = process.argv.slice(2);
const baseUrl = process.env.BRAIN_URL ?? 'http://127.0.0.1:8080';
const brain = new Brain(baseUrl, process.env.BRAIN_API_KEY);

const HTML = '<!doctype html><title>Fresh bread</title><body><script type="module" src="/page.js"></script></body>';

const server = createServer(async (request, response) => {
  if (request.url === '/page.js') {
    response.setHeader('Content-Type', 'text/javascript').end(await readFile(bundle));
  } else if (request.url === '/host') {
    // One incarnation for each load of the page: the last one has the name.
    const { host, token } = await brain.registerHost({ name: 'page', incarnation: randomUUID() });
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ baseUrl, host, hostToken: token }));
  } else {
    response.setHeader('Content-Type', 'text/html').end(HTML);
  }
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
