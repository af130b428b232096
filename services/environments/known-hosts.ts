/**
 * The hosts that this process has heard of, by tenant and name.
 *
 *   B1. A host stays known while a process of it is connected, or a command of it is open.
 *   B2. Beyond that a tenant's most recently used are kept, so many of them: names are anybody's to make up. One that was
 *       let go of is like one after a restart of the server: what its registration says is known of it.
 */
import type { Clock } from '../ports.ts';
import { Host } from './host.ts';

// More than any tenant runs at a time.
export const HOSTS_KEPT_MAX = 1_000;

export class KnownHosts {
  readonly #clock: Clock;
  /** The least recently used first. */
  readonly #tenants = new Map<string, Map<string, Host>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be asked for anew after each wait: meanwhile the one that was answered may have been let go of. */
  of(tenant: string, name: string): Host {
    const hosts = this.#tenants.get(tenant) ?? new Map<string, Host>();
    this.#tenants.set(tenant, hosts);
    const host = hosts.get(name) ?? new Host(name, this.#clock);
    hosts.delete(name);
    if (hosts.size >= HOSTS_KEPT_MAX) letOneGo(hosts);
    hosts.set(name, host);
    return host;
  }
}

function letOneGo(hosts: Map<string, Host>): void {
  for (const [name, host] of hosts) {
    if (host.isInUse) continue;
    hosts.delete(name);
    return;
  }
}
