/**
 * Serves tools with nothing but the token of one host: for a page, whose backend registers the host and hands the token
 * on. The token can answer that host's commands, and nothing else.
 */
import { BrainClosedError } from './errors.ts';
import { carryOut } from './host-operation.ts';
import { tieHost } from './host-tie.ts';
import { portsWith, type PortOptions } from './system.ts';
import type { Tool } from './tool.ts';
import { BASE_URL, Transport } from './transport.ts';

export interface ServeToolsOptions extends PortOptions {
  /** Default: `http://127.0.0.1:8080`. */
  readonly baseUrl?: string;
  /** The name of the host, as it was registered. */
  readonly host: string;
  readonly hostToken: string;
  /** For every environment that points at this host. */
  readonly tools: readonly Tool[];
  /** Called when nothing more can be served: another process took the name, or the token counts no more. */
  readonly onError?: (error: Error) => void;
}

export interface ServedTools {
  /** Lets go of the connection, and aborts the signals of what runs. */
  close(): Promise<void>;
}

/** Resolves when commands can come. */
export async function serveTools({ baseUrl = BASE_URL, host, hostToken, tools, onError, ...world }: ServeToolsOptions): Promise<ServedTools> {
  const ports = portsWith(world);
  const transport = new Transport({ baseUrl, token: hostToken, ports });
  const { link, commands } = tieHost({
    host,
    transport,
    token: hostToken,
    register: null,
    carryOut: (operation, voice) => carryOut(operation, { tools }, voice),
    onError: onError ?? ((error) => ports.complain(error)),
  });
  const close = async (): Promise<void> => {
    transport.close();
    commands.abandon(new BrainClosedError());
  };
  try {
    await link.connected();
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}
