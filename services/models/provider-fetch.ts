/**
 * The network as model providers are reached over it. It sends what it is given once:
 *
 *   F1. Each request has a connection of its own. On one that was kept, a request can be lost to a server that has just
 *       closed it, and nobody could tell whether it was handled.
 *   F2. No redirect is followed: following one is sending again, to somebody else.
 *   F3. No time limit but that of making the connection: how long an answer may take is the turn's to say.
 */
import type { Agent } from 'undici';
import { loadHttpLibrary, type HttpLibrary, type ProviderFetch } from './provider-library.ts';

// Before the connection stands nothing has been sent: giving up is safe, and soon enough for somebody who waits.
const CONNECT_MS_MAX = 10_000;

export interface ProviderConnections {
  readonly fetch: ProviderFetch;
  /** Cuts what is under way. */
  close(): Promise<void>;
}

export function providerConnections(): ProviderConnections {
  let opening: Promise<{ readonly agent: Agent; readonly fetchOver: HttpLibrary['fetchOver'] }> | null = null;
  const open = async () => {
    const { Agent, fetchOver } = await loadHttpLibrary();
    const agent = new Agent({
      allowH2: false,
      pipelining: 0,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: CONNECT_MS_MAX },
    });
    return { agent, fetchOver };
  };
  return {
    fetch: async (input, init) => {
      opening ??= open();
      const { agent, fetchOver } = await opening;
      return await fetchOver(input, { ...init, redirect: 'error', dispatcher: agent });
    },
    close: async () => {
      if (opening === null) return;
      const { agent } = await opening;
      await agent.destroy();
    },
  };
}
