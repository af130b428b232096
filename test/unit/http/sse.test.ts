import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import Koa, { type Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { EventStreams } from '../../../http/sse.ts';
import type { Log } from '../../../services/ports.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedFollowing } from '../../support/scripted-following.ts';

const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Answers one request with a stream, and hangs up on it before it is made, or at a moment of its making. */
async function streamOnce(hangUp: (context: Context) => void, before?: (context: Context) => Promise<unknown>): Promise<{ readonly following: ScriptedFollowing<never>; readonly timers: number }> {
  const clock = new ManualClock();
  const { promise, resolve, reject } = deferred<ScriptedFollowing<never>>();
  const app = new Koa();
  app.on('error', () => undefined);
  app.use(async (context) => {
    context.state['caller'] = { tokenId: 'key', tenant: 'local', scope: 'manage', sessionId: null, ended: null };
    let following: ScriptedFollowing<never> | undefined;
    try {
      await before?.(context);
      await new EventStreams({ clock, log: silent }).answer(context, {
        follow: async (signal) => {
          following = new ScriptedFollowing(signal);
          hangUp(context);
          return { ended: false, items: following };
        },
        frameOf: () => null,
      });
      // The stream goes on by itself until its reader is known to be gone.
      if (!context.res.closed) await once(context.res, 'close');
      if (following !== undefined) resolve(following);
    } catch (error) {
      reject(error);
    }
  });
  const handle = app.callback();
  const server = createServer((request, response) => {
    handle(request, response).catch(reject);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const following = await promise;
  socket.destroy();
  await new Promise((done) => server.close(done));
  return { following, timers: clock.timerCount };
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  return { promise, resolve, reject };
}

describe('a reader that goes while its stream is made', () => {
  it.each<readonly [string, (context: Context) => void]>([
    ['before the follower is there', (context) => context.req.socket.destroy()],
    ['in the tick after', (context) => process.nextTick(() => context.req.socket.destroy())],
    ['in the microtask after', (context) => queueMicrotask(() => context.req.socket.destroy())],
    ['just before the head is sent', (context) => setImmediate(() => context.req.socket.destroy())],
    ['just after the head is sent', (context) => setImmediate(() => setImmediate(() => context.req.socket.destroy()))],
  ])('leaves no timer and no follower behind, %s', async (_, hangUp) => {
    const { following, timers } = await streamOnce(hangUp);
    expect({ isReleased: following.isReleased, timers }).toEqual({ isReleased: true, timers: 0 });
  });

  it('leaves none behind either when it went before', async () => {
    const { following, timers } = await streamOnce(
      () => undefined,
      async (context) => {
        context.req.socket.destroy();
        await once(context.res, 'close');
      },
    );
    expect({ isReleased: following.isReleased, timers }).toEqual({ isReleased: true, timers: 0 });
  });
});
