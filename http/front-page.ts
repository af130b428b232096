/** The page at `/`: what this is, three commands to try, and where to go on. */
import type { OpenContract } from './contract.ts';
import type { RouteTable } from './route-table.ts';

// The page holds no script and loads nothing; should text ever slip into it unescaped, it stays text.
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const readFrontPage = {
  operation: 'readFrontPage',
  method: 'get',
  path: '/',
  tag: 'Server',
  summary: 'A page to begin with',
  scope: null,
  answers: { 200: { description: 'What this is, three commands to try, and where to go on.', mediaType: 'text/html' } },
  refusals: [],
} as const satisfies OpenContract;

export function addFrontPage(table: RouteTable, options: { readonly needsToken: boolean }): void {
  table.open(readFrontPage, (context) => {
    context.type = 'text/html; charset=utf-8';
    context.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    context.body = frontPage(printableHost(context.req.headers.host), options.needsToken);
  });
}

/** The name by which this reader reaches the server, where it is one that can stand in a command. */
function printableHost(host: string | undefined): string {
  return host !== undefined && /^[A-Za-z0-9.:_[\]-]{1,255}$/.test(host) ? host : '127.0.0.1:8080';
}

function frontPage(host: string, needsToken: boolean): string {
  const token = needsToken ? ' -H "Authorization: Bearer $BRAIN_API_KEY"' : '';
  const sessions = `http://${host}/v1/sessions`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Brain</title>
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
  pre { background: #f2f2f0; padding: .75rem 1rem; overflow-x: auto }
  a { color: #0b57a4 }
  @media (prefers-color-scheme: dark) { body { color: #e8e8e6; background: #161616 } pre { background: #262626 } a { color: #8ab8ec } }
</style>
<h1>Brain</h1>
<p>This server owns agent sessions: each is one conversation and everything that was done on its behalf, in one journal
that only grows. What it has acknowledged outlives the process.</p>
<h2>Try it</h2>
<p>Create a session. It answers with a <code>session_id</code>, and talks to a built-in demo model unless a
<code>model</code> is named.</p>
<pre>curl -X POST${token} ${sessions}</pre>
<p>Send it a message. The answer comes when the turn is over.</p>
<pre>curl${token} -H 'Content-Type: application/json' -d '{"input":"What time is it?"}' ${sessions}/SESSION_ID/messages</pre>
<p>Watch what it does, from its first record on and as it happens.</p>
<pre>curl -N${token} -H 'Accept: text/event-stream' ${sessions}/SESSION_ID/events</pre>
<h2>Look around</h2>
<ul>
  <li><a href="/inspector">/inspector</a>: the sessions as a page: their charts, their journals, and what they do right now</li>
  <li><a href="/v1/sessions">/v1/sessions</a>: the sessions here${needsToken ? ' (needs the token)' : ''}</li>
  <li><a href="/openapi.json">/openapi.json</a>: every route with what it takes and answers, as an OpenAPI document</li>
  <li><a href="/health/ready">/health/ready</a>: empty while this server takes work</li>
</ul>
</html>
`;
}
