/**
 * Who has each host, as it was registered last: kept in a file of each tenant, so that a restart does not forget who lost it.
 *
 *   R1. A registration is durable before its process is told that it has the name. One that the disk did not take leaves the
 *       name where it was.
 *   R2. Of each tenant so many hosts are kept, and of each host the last that lost it. The hosts that were registered least
 *       recently are forgotten first, and then the newest token that is shown has the name.
 *   R3. What a file does not say as this version writes it is refused, not guessed.
 */
import { z } from 'zod';
import type { HostFiles } from '../../storage/host-files.ts';
import { OneAtATime } from '../one-at-a-time.ts';
import type { Incarnation } from './host-tokens.ts';
import { HOSTS_KEPT_MAX } from './known-hosts.ts';

// Those that lost a host longer ago are told by the times of their tokens.
const FORMER_KEPT_MAX = 8;

const registrationSchema = z.strictObject({
  host: z.string(),
  incarnation: z.string(),
  /** Epoch milliseconds: the time that its token says. */
  issued_at: z.int(),
  /** The names of those that lost it, the last one at the end. */
  former: z.array(z.string()),
});
export type Registration = Readonly<z.infer<typeof registrationSchema>>;

const fileSchema = z.strictObject({ version: z.literal(1), hosts: z.array(registrationSchema) });

export class Registrations {
  readonly #files: HostFiles;
  /** By tenant and host, the one registered least recently first. */
  readonly #tenants = new Map<string, ReadonlyMap<string, Registration>>();
  readonly #calls = new OneAtATime();

  constructor(files: HostFiles) {
    this.#files = files;
  }

  /** Null where none is kept. */
  async of(tenant: string, host: string): Promise<Registration | null> {
    const known = this.#tenants.get(tenant) ?? (await this.#calls.run(tenant, () => this.#read(tenant)));
    return known.get(host) ?? null;
  }

  /** Resolves when it is durable. One that is older than what is kept changes nothing. */
  add({ tenant, host, incarnation, issuedAt }: Incarnation): Promise<void> {
    return this.#calls.run(tenant, async () => {
      const hosts = new Map(await this.#read(tenant));
      const before = hosts.get(host);
      if (before !== undefined && before.issued_at >= issuedAt) return;
      const former = before === undefined ? [] : [...before.former, before.incarnation].filter((name) => name !== incarnation);
      hosts.delete(host);
      hosts.set(host, { host, incarnation, issued_at: issuedAt, former: former.slice(-FORMER_KEPT_MAX) });
      const [oldest] = hosts.keys();
      if (hosts.size > HOSTS_KEPT_MAX && oldest !== undefined) hosts.delete(oldest);
      await this.#files.replace(tenant, Buffer.from(JSON.stringify({ version: 1, hosts: [...hosts.values()] })));
      this.#tenants.set(tenant, hosts);
    });
  }

  async #read(tenant: string): Promise<ReadonlyMap<string, Registration>> {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const bytes = await this.#files.read(tenant);
    const hosts = new Map((bytes === null ? [] : parse(bytes)).map((one) => [one.host, one]));
    this.#tenants.set(tenant, hosts);
    return hosts;
  }
}

function parse(bytes: Uint8Array): readonly Registration[] {
  try {
    return fileSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).hosts;
  } catch {
    throw new Error('the hosts of a tenant do not read back as they were written; their file is in the directory hosts');
  }
}
