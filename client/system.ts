/** The real network, clock and chance, of Node and of browsers. */
import type { ClientClock, ClientPorts, Fetch } from './ports.ts';

// Under this name Node keeps the dispatcher of its `fetch`, and whoever sets another one puts it there.
const DISPATCHER: unique symbol = Symbol.for('undici.globalDispatcher.1') as typeof DISPATCHER;

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/**
 * Node gives up on an answer that does not begin within five minutes, and a turn may take longer. How long to wait is
 * the caller's to say, so that this bound is lifted, for these requests alone.
 */
const withoutNodesBounds: Dispatcher = {
  dispatch(options, handler) {
    const dispatcher = nodesDispatcher();
    if (dispatcher === undefined) throw new TypeError('Node has no dispatcher any more');
    return dispatcher.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler);
  },
};

function nodesDispatcher(): Dispatcher | undefined {
  return (globalThis as { readonly [DISPATCHER]?: Dispatcher })[DISPATCHER];
}

const systemFetch: Fetch = (url, init) => {
  // Whoever asks for `Response` makes Node load all of it, the dispatcher too. Nothing else has one.
  const isNode = typeof Response === 'function' && nodesDispatcher() !== undefined;
  return fetch(url, isNode ? ({ ...init, dispatcher: withoutNodesBounds } as RequestInit) : init);
};

const systemPorts: ClientPorts = {
  fetch: systemFetch,
  clock: {
    now: () => Date.now(),
    after(ms, action) {
      const timer = setTimeout(action, ms);
      return () => {
        clearTimeout(timer);
      };
    },
  },
  random: () => Math.random(),
  // Not `randomUUID`, which pages that came over plain HTTP from another machine do not have.
  newKey: () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
  complain: (error) => console.error(`Brain: ${error.message}`),
};

export interface PortOptions {
  /** Default: the one that Node and browsers have. */
  readonly fetch?: Fetch;
  /** Default: the machine's. */
  readonly clock?: ClientClock;
}

export function portsWith({ fetch, clock }: PortOptions): ClientPorts {
  return { ...systemPorts, ...(fetch === undefined ? {} : { fetch }), ...(clock === undefined ? {} : { clock }) };
}
