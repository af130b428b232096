/** Hosts as the server composes them, whose tokens the same server makes after every start. */
import { createHmac } from 'node:crypto';
import { Hosts } from '../../services/environments/hosts.ts';
import { knownIssuers } from '../../services/issuers.ts';
import type { Clock } from '../../services/ports.ts';
import { Secrets } from '../../services/secrets.ts';
import type { TokensByName } from '../../services/tokens.ts';
import type { HostFiles } from '../../storage/host-files.ts';
import { MemoryTenantFiles } from '../../storage/memory-tenant-files.ts';

export interface TestHostsParts {
  readonly apiKey: string | undefined;
  readonly tokens: TokensByName;
  readonly clock: Clock;
  /** Kept from one start to the next. */
  readonly files?: HostFiles;
}

export function testHosts({ apiKey, tokens, clock, files = new MemoryTenantFiles() }: TestHostsParts): Hosts {
  return new Hosts({
    files,
    vault: { mac: async (purpose, text) => macOf(purpose, text), isMac: (purpose, text, mac) => macOf(purpose, text).equals(mac) },
    issuers: knownIssuers({ apiKey, tokens }),
    clock,
    secrets: new Secrets([]),
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  });
}

function macOf(purpose: string, text: string): Buffer {
  return createHmac('sha256', purpose).update(text).digest();
}
