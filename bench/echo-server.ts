/**
 * A program: the yardsticks E1 and E64. A route on the server's own stack (its table of routes, its reading of bodies, its
 * schema of a message) that gives back what it gets, and does nothing else.
 */
import { createServer } from 'node:http';
import { createBareApp } from '../http/bare-app.ts';
import { createBodyReader } from '../http/body.ts';
import type { OpenContract } from '../http/contract.ts';
import { answerFailures, answerJson } from '../http/failures.ts';
import { handlerOf } from '../http/handler.ts';
import { RouteTable } from '../http/route-table.ts';
import { parameterOf, parseBody } from '../http/routes.ts';
import { sendMessageBody } from '../http/wire/requests.ts';
import { systemClock, systemLog } from '../services/system.ts';

const BODY_BYTES_MAX = 8 * 1024 * 1024;

const echo: OpenContract = {
  operation: 'echo',
  method: 'post',
  path: '/echo/{name}/messages',
  tag: 'Server',
  summary: 'Give a message back',
  scope: null,
  answers: { 200: { description: 'The message.' } },
  refusals: [],
};

const log = systemLog('warn');
const readBody = createBodyReader({ bodyBytesMax: BODY_BYTES_MAX });
const routes = new RouteTable(() => Promise.reject(new Error('the echo asks nobody who they are')));
routes.open(echo, async (context) => {
  const { input } = parseBody(sendMessageBody, await readBody(context));
  answerJson(context, { name: parameterOf(context, 'name'), input });
});
const app = createBareApp();
app.use(answerFailures({ clock: systemClock, log }));
routes.addTo(app);

const handle = handlerOf(app);
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`the echo listens on http://127.0.0.1:${address.port}\n`);
});
