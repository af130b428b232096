/** Hosts on a simulated clock, with issuers that a test takes back, and operations that it sends to them. */
import type { ResolvedEnvironment } from '../../machines/records.ts';
import type { Hosts } from '../../services/environments/hosts.ts';
import type { OperationCall, OperationListener, OperationRequest, Receipt, SentOperation } from '../../services/environments/operation.ts';
import { NOBODY_ID } from '../../services/issuers.ts';
import { StorageError } from '../../storage/journal.ts';
import { MemoryTenantFiles } from '../../storage/memory-tenant-files.ts';
import { FakeTokenService } from './fake-token-service.ts';
import { directHostWire, HostClient, type HostScript } from './host-client.ts';
import { SimulatedClock } from './simulated-clock.ts';
import { testHosts } from './test-hosts.ts';

export const RED = { tenant: 'local', tokenId: NOBODY_ID };
const SESSION = 'ab'.repeat(16);

export interface Sending {
  readonly tenant?: string;
  readonly host?: string;
  readonly session?: string;
  readonly listener?: OperationListener | null;
  /** Whether its receipt is on record as soon as it is there. True unless the test says otherwise. */
  readonly isRecorded?: boolean;
}

export class HostStage {
  readonly clock = new SimulatedClock();
  readonly tokens = new FakeTokenService();
  apiKey: string | undefined;
  files = new FailingFiles();
  hosts: Hosts;
  #sequence = 10;

  constructor({ apiKey }: { readonly apiKey?: string } = {}) {
    this.apiKey = apiKey;
    this.hosts = testHosts(this);
  }

  /** Another process of the server, with the same key: what was in memory is gone. */
  restart({ keepsFiles = true }: { readonly keepsFiles?: boolean } = {}): void {
    if (!keepsFiles) this.files = new FailingFiles();
    this.hosts = testHosts(this);
  }

  client(incarnation = 'first', options: { readonly name?: string; readonly script?: HostScript; readonly caller?: typeof RED } = {}): HostClient {
    const { name = 'mill', script = () => 'waits', caller = RED } = options;
    return new HostClient(directHostWire(() => this.hosts, caller), { name, incarnation, script });
  }

  send(type: OperationRequest['type'], { tenant = 'local', host = 'mill', session = SESSION, listener = null, isRecorded = true }: Sending = {}): Sent {
    this.#sequence += 1;
    const environment: ResolvedEnvironment = { name: 'shop', driver: 'host', host, configuration: {} };
    const operation = { session_id: session, environment: 'shop', sequence: this.#sequence, request: requestOf(type) };
    return new Sent(this.hosts, { tenant, environment, operation, credential: null, listener }, isRecorded);
  }
}

class FailingFiles extends MemoryTenantFiles {
  fails = false;

  override async replace(tenant: string, bytes: Uint8Array): Promise<void> {
    if (this.fails) throw new StorageError('journal_unavailable', 'the disk failed');
    await super.replace(tenant, bytes);
  }
}

/** An operation that was sent, and what came of it so far. */
export class Sent {
  readonly call: OperationCall;
  readonly operation: SentOperation;
  receipt: Receipt | null = null;

  constructor(hosts: Hosts, call: OperationCall, isRecorded: boolean) {
    this.call = call;
    this.operation = hosts.send(call);
    void this.operation.receipt.then((receipt) => {
      this.receipt = receipt;
      if (isRecorded) this.operation.recorded();
    });
  }

  get name(): { readonly session_id: string; readonly sequence: number } {
    const { session_id, sequence } = this.call.operation;
    return { session_id, sequence };
  }
}

function requestOf(type: OperationRequest['type']): OperationRequest {
  switch (type) {
    case 'invoke':
      return { type, tool: 'grind', input: {}, deadline_ms: 60_000 };
    case 'cancel':
      return { type, target_sequence: 1 };
    case 'setup':
      return { type, configuration: {} };
    default:
      return { type };
  }
}
