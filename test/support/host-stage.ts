/** Hosts on a simulated clock, with issuers that a test takes back, and operations that it sends to them. */
import type { ResolvedEnvironment } from '../../machines/records.ts';
import { Hosts } from '../../services/environments/hosts.ts';
import type { OperationCall, OperationListener, OperationRequest, Receipt, SentOperation } from '../../services/environments/operation.ts';
import { knownIssuers, NOBODY_ID } from '../../services/issuers.ts';
import { systemRandom } from '../../services/system.ts';
import { Vault } from '../../services/vault.ts';
import { FakeTokenService } from './fake-token-service.ts';
import { directHostWire, HostClient, type HostScript } from './host-client.ts';
import { SimulatedClock } from './simulated-clock.ts';

export const RED = { tenant: 'local', tokenId: NOBODY_ID };
const SESSION = 'ab'.repeat(16);

export interface Sending {
  readonly tenant?: string;
  readonly host?: string;
  readonly session?: string;
  readonly listener?: OperationListener | null;
}

export class HostStage {
  readonly clock = new SimulatedClock();
  readonly tokens = new FakeTokenService();
  apiKey: string | undefined = undefined;
  hosts!: Hosts;
  #vault!: Vault;
  #sequence = 10;

  static async open({ apiKey }: { readonly apiKey?: string } = {}): Promise<HostStage> {
    const stage = new HostStage();
    stage.apiKey = apiKey;
    stage.#vault = await Vault.open({
      key: new Uint8Array(32),
      keyFile: { read: async () => null, make: async () => undefined },
      random: systemRandom,
      hasSealed: async () => false,
    });
    stage.restart();
    return stage;
  }

  /** Another process of the server, with the same key: what was in memory is gone. */
  restart(): void {
    const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const issuers = knownIssuers({ apiKey: this.apiKey, tokens: this.tokens });
    this.hosts = new Hosts({ vault: this.#vault, issuers, clock: this.clock, log: quiet });
  }

  client(incarnation = 'first', options: { readonly name?: string; readonly script?: HostScript; readonly caller?: typeof RED } = {}): HostClient {
    const { name = 'mill', script = () => 'waits', caller = RED } = options;
    return new HostClient(directHostWire(() => this.hosts, caller), { name, incarnation, script });
  }

  send(type: OperationRequest['type'], { tenant = 'local', host = 'mill', session = SESSION, listener = null }: Sending = {}): Sent {
    this.#sequence += 1;
    const environment: ResolvedEnvironment = { name: 'shop', driver: 'host', host, configuration: {} };
    const operation = { session_id: session, environment: 'shop', sequence: this.#sequence, request: requestOf(type) };
    return new Sent(this.hosts, { tenant, environment, operation, credential: null, listener });
  }
}

/** An operation that was sent, and what came of it so far. */
export class Sent {
  readonly call: OperationCall;
  readonly operation: SentOperation;
  receipt: Receipt | null = null;

  constructor(hosts: Hosts, call: OperationCall) {
    this.call = call;
    this.operation = hosts.send(call);
    void this.operation.receipt.then((receipt) => {
      this.receipt = receipt;
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
