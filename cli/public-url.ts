/** How environments reach this server, where its operator does not say: at the address that it listens on. */
import { urlOf } from './first-steps.ts';

/** An address that stands for all of them leads nowhere by itself; loopback is one of them. */
const LOOPBACK_OF_ALL: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export function ownUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  return urlOf({ host: LOOPBACK_OF_ALL[host] ?? host, port });
}
