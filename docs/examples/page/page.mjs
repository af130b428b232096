// In a page: a tool that only a page can offer. Bundle it: npx rolldown docs/examples/page/page.mjs --file page.js
import { serveTools, tool } from '@aexhq/brain';

// From the backend that registered the host: the page has no other key.
const { baseUrl, host, hostToken } = await (await fetch('/host')).json();

const readTitle = tool({
  name: 'read_title',
  description: 'The title of the page that the user looks at.',
  input: { type: 'object' },
  effect: 'read',
  run: () => document.title,
});

await serveTools({
  baseUrl,
  host,
  hostToken,
  tools: [readTitle],
  onError: (error) => (document.body.textContent = error.message),
});
document.body.textContent = 'at your service';
