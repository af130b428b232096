/** One operation for a host, from its sending to its close; and what is left of it afterwards for the host to hear. */
import type { Sequence } from '../../machines/records.ts';
import type { ServiceError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import type { HostEvent, HostNews } from './host-stream.ts';
import { ENVIRONMENT_CONTRACT, type Kept, type OperationCall, type OperationRequest, type Receipt, type SentOperation } from './operation.ts';

/** What a command asks of the host that it is for. */
export interface HostOfCommand {
  readonly isConnected: boolean;
  /** It is over: it is told to nobody any more. */
  forget(command: HostCommand): void;
  /** Tells the process that has it. Resolves when that has said its last about it, or is gone. */
  cancel(cancel: HostCancel): Promise<void>;
}

export class HostCommand implements SentOperation, HostNews {
  readonly call: OperationCall;
  readonly receipt: Promise<Receipt>;
  readonly #host: HostOfCommand;
  readonly #clock: Clock;
  readonly #sentAt: number;
  readonly #kept: Promise<Kept>;
  #resolve: (receipt: Receipt) => void = () => undefined;
  #resolveKept: (kept: Kept) => void = () => undefined;
  #isWritten = false;
  #isOver = false;
  #cancelWait: () => void = () => undefined;

  constructor(call: OperationCall, host: HostOfCommand, clock: Clock) {
    this.call = call;
    this.#host = host;
    this.#clock = clock;
    this.#sentAt = clock.monotonic();
    this.receipt = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#kept = new Promise((resolve) => {
      this.#resolveKept = resolve;
    });
  }

  get key(): string {
    const { session_id, sequence } = this.call.operation;
    return commandKey(session_id, sequence);
  }

  /** Whether it was ever written to a stream. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  get isInvoke(): boolean {
    return this.call.operation.request.type === 'invoke';
  }

  tell(): HostEvent {
    this.#isWritten = true;
    return { type: 'command', contract: ENVIRONMENT_CONTRACT, operation: { ...this.call.operation, request: this.#requestNow() } };
  }

  /** Resolves with what became of the receipt. */
  settle(receipt: Receipt): Promise<Kept> {
    if (!this.#end()) return Promise.resolve('late');
    this.#resolve(receipt);
    return this.#kept;
  }

  recorded(failure?: ServiceError): void {
    this.#resolveKept(failure ?? 'recorded');
  }

  /** Calls back after a while, unless it is over by then, or somebody came. */
  waitFor(ms: number, action: () => void): void {
    this.#cancelWait();
    this.#cancelWait = this.#clock.after(ms, action);
  }

  stopWaiting(): void {
    this.#cancelWait();
  }

  atDeadline(): 'timeout' | 'unknown' {
    return this.#isWritten && !this.#host.isConnected ? 'unknown' : 'timeout';
  }

  mayHaveArrived(): boolean {
    return this.#isWritten;
  }

  async close(cancelAs: Sequence | null): Promise<void> {
    this.#resolveKept('late');
    if (!this.#end() || !this.#isWritten || cancelAs === null) return;
    const { session_id, sequence } = this.call.operation;
    await this.#host.cancel(new HostCancel(session_id, sequence));
  }

  /** It may have waited for its host, or been told before: what is left until its deadline, in whole milliseconds, is less by that. */
  #requestNow(): OperationRequest {
    const { request } = this.call.operation;
    if (request.type !== 'invoke' || request.deadline_ms === null) return request;
    const leftMs = Math.floor(request.deadline_ms - (this.#clock.monotonic() - this.#sentAt));
    return { ...request, deadline_ms: Math.max(0, leftMs) };
  }

  /** False where it was over already. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelWait();
    this.#host.forget(this);
    return true;
  }
}

/** A command that nobody waits for, of which its process is still to hear. */
export class HostCancel implements HostNews {
  readonly key: string;
  readonly done: Promise<void>;
  readonly #event: HostEvent;
  #resolve: () => void = () => undefined;

  constructor(sessionId: string, sequence: Sequence) {
    this.key = commandKey(sessionId, sequence);
    this.#event = { type: 'cancel', session_id: sessionId, sequence };
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  tell(): HostEvent {
    return this.#event;
  }

  /** The process has said its last, or is gone: nobody waits for it. */
  release(): void {
    this.#resolve();
  }
}

export function commandKey(sessionId: string, sequence: Sequence): string {
  return `${sessionId}/${sequence}`;
}
