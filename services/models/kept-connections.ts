/**
 * The connections that stay open behind a call, for the next one: making one costs more than the rest of a request, and over
 * TLS two more ways to the server and back.
 *
 *   K1. One is used again within a second, and never later. Servers close what nobody uses, and a request that meets the close
 *       is lost: nobody can tell whether it was handled, so its call is unknown. They wait for five seconds or more, as a rule.
 *   K2. Only one whose answer was read to its end is kept, and whose request was taken to its end. An answer may be complete
 *       before its end: that is waited for, for as long as a connection is kept.
 *   K3. One on which something comes while nothing was asked is closed: more of it would be taken for the answer to what is
 *       asked next.
 */
import type { Agent, AgentOptions, ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const KEPT_MS_MAX = 1000;

/** What the agent has to be made with: it closes what was kept for that long. */
export const KEEPING: AgentOptions = { keepAlive: true, timeout: KEPT_MS_MAX };

export class KeptConnections {
  readonly #agent: Agent;
  readonly #since = new WeakMap<Duplex, number>();

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  /** To be called before each request: the agent's timers are late where the process was busy. */
  dropOld(): void {
    const now = performance.now();
    for (const sockets of Object.values(this.#agent.freeSockets)) {
      // The agent adds at the end, and takes from there: those before one that is young enough are looked at when they are next.
      for (let at = (sockets?.length ?? 0) - 1; at >= 0; at -= 1) {
        const socket = sockets?.[at];
        if (socket === undefined || (!socket.destroyed && now - (this.#since.get(socket) ?? -Infinity) <= KEPT_MS_MAX)) break;
        hangUp.call(socket);
      }
    }
  }

  /** To be called with each answer. */
  keepAfter(incoming: IncomingMessage, outgoing: ClientRequest): void {
    const { socket } = incoming;
    incoming.once('end', () => {
      // What is not sent yet would hold the connection, and the request with it, for as long as nobody reads it.
      if (!outgoing.writableFinished) outgoing.destroy();
      this.#since.set(socket, performance.now());
      socket.on('data', hangUp);
    });
  }

  /** To be called where a request goes out on a connection that was kept. */
  taken(socket: Duplex): void {
    socket.off('data', hangUp);
  }

  close(): void {
    this.#agent.destroy();
  }
}

function hangUp(this: Duplex): void {
  this.destroy();
  // The agent would hear of it with the close, which comes later, and give it to a request until then.
  this.emit('agentRemove');
}

/** Reads an answer that nobody needs more of to its end, or closes its connection. */
export function readOut(incoming: IncomingMessage, outgoing: ClientRequest): void {
  const isTooLong = setTimeout(() => outgoing.destroy(), KEPT_MS_MAX);
  isTooLong.unref();
  incoming.once('close', () => clearTimeout(isTooLong));
}
