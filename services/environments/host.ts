/**
 * A host: the name that environments point at, the one process that has it now, and the commands that are open for it.
 *
 *   N1. The process that was given its token last has the name. When another takes it, the stream of the one before ends,
 *       and whatever was ever written to that stream ends `unknown` at that moment: it may have been carried out there.
 *   N2. A command that was written to nobody waits for whoever has the name. One that was written is written again to the
 *       same process alone, after the cancels that it may have missed and in the order in which commands came.
 *   N3. The first receipt of the process that has a command counts. Any other finds nothing.
 *   N4. A process has one stream. A newer one takes the place of the older, and the commands that are open are told again.
 *   N5. Setting up, detaching and tearing down wait for a process for HOST_WAIT_MS; a tool call waits until its deadline.
 */
import type { Clock } from '../ports.ts';
import { HostCommand, type HostCancel, type HostOfCommand } from './host-command.ts';
import { HostStream } from './host-stream.ts';
import type { Incarnation } from './host-tokens.ts';
import type { OperationCall, Receipt, SentOperation } from './operation.ts';
import type { Registration } from './registrations.ts';

// Long enough for a process to come back after a lost connection, short enough for whoever waits for a session.
export const HOST_WAIT_MS = 10_000;
// For a process that never answers to a cancel: the oldest are given up.
const CANCELS_KEPT_MAX = 1_000;
// As many restarts of one host are told apart from a new process by their names. Later ones are by their tokens.
const FORMER_INCARNATIONS_MAX = 64;

export class Host implements HostOfCommand {
  readonly #name: string;
  readonly #clock: Clock;
  /** The process that has the name; null: none was heard of. */
  #current: Pick<Incarnation, 'incarnation' | 'issuedAt'> | null = null;
  readonly #former = new Set<string>();
  #stream: HostStream | null = null;
  readonly #commands = new Map<string, HostCommand>();
  readonly #cancels = new Map<string, HostCancel>();

  constructor(name: string, clock: Clock) {
    this.#name = name;
    this.#clock = clock;
  }

  get isConnected(): boolean {
    return this.#stream !== null;
  }

  /** Whether a process is connected, or a command open. */
  get isInUse(): boolean {
    return this.isConnected || this.#commands.size > 0;
  }

  /** Whether a process of this name lost the host to another. */
  isFormer(incarnation: string): boolean {
    return this.#former.has(incarnation);
  }

  /** Who registered last and who lost the name before, where nothing is known of that here. */
  recall({ incarnation, issued_at: issuedAt, former }: Registration): void {
    if (this.#current !== null) return;
    this.#current = { incarnation, issuedAt };
    for (const name of former) this.#former.add(name);
  }

  /** A process shows its token. `older`: another one has the name. */
  take({ incarnation, issuedAt }: Pick<Incarnation, 'incarnation' | 'issuedAt'>): 'taken' | 'current' | 'older' {
    if (this.#current?.incarnation === incarnation) {
      this.#current = { incarnation, issuedAt: Math.max(issuedAt, this.#current.issuedAt) };
      return 'current';
    }
    if (this.#current !== null) {
      if (issuedAt <= this.#current.issuedAt || this.isFormer(incarnation)) return 'older';
      this.#giveUp(this.#current.incarnation);
    }
    this.#current = { incarnation, issuedAt };
    return 'taken';
  }

  connect(): HostStream {
    const stream = new HostStream();
    const before = this.#stream;
    // First, so that the end of the older one is not the end of the process.
    this.#stream = stream;
    before?.end();
    for (const cancel of this.#cancels.values()) stream.add(cancel);
    for (const command of this.#commands.values()) {
      command.stopWaiting();
      stream.add(command);
    }
    return stream;
  }

  disconnect(stream: HostStream): void {
    stream.end();
    if (this.#stream !== stream) return;
    this.#stream = null;
    for (const cancel of this.#cancels.values()) cancel.release();
    for (const command of this.#commands.values()) this.#awaitProcess(command);
  }

  send(call: OperationCall): SentOperation {
    const command = new HostCommand(call, this, this.#clock);
    this.#commands.set(command.key, command);
    if (this.#stream === null) this.#awaitProcess(command);
    else this.#stream.add(command);
    return command;
  }

  /** The open command that was written to this process; undefined where it has none such. */
  commandOf(incarnation: string, key: string): HostCommand | undefined {
    const command = this.#current?.incarnation === incarnation ? this.#commands.get(key) : undefined;
    return command?.isWritten === true ? command : undefined;
  }

  /** The process has said its last about a command that is over. */
  stopped(incarnation: string, key: string): void {
    const cancel = this.#current?.incarnation === incarnation ? this.#cancels.get(key) : undefined;
    if (cancel !== undefined) this.#drop(cancel);
  }

  forget(command: HostCommand): void {
    this.#commands.delete(command.key);
    this.#stream?.drop(command);
  }

  cancel(cancel: HostCancel): Promise<void> {
    this.#cancels.set(cancel.key, cancel);
    if (this.#stream === null) cancel.release();
    else this.#stream.add(cancel);
    const [oldest] = this.#cancels.values();
    if (this.#cancels.size > CANCELS_KEPT_MAX && oldest !== undefined) this.#drop(oldest);
    return cancel.done;
  }

  #drop(cancel: HostCancel): void {
    this.#cancels.delete(cancel.key);
    this.#stream?.drop(cancel);
    cancel.release();
  }

  #giveUp(incarnation: string): void {
    this.#former.add(incarnation);
    const [oldest] = this.#former;
    if (this.#former.size > FORMER_INCARNATIONS_MAX && oldest !== undefined) this.#former.delete(oldest);
    const stream = this.#stream;
    if (stream !== null) this.disconnect(stream);
    for (const cancel of this.#cancels.values()) this.#drop(cancel);
    const message = `another process took the name of the host ${this.#name} while this was under way`;
    for (const command of [...this.#commands.values()]) if (command.isWritten) void command.settle({ type: 'unknown', message });
  }

  #awaitProcess(command: HostCommand): void {
    if (command.isInvoke || command.isWritten) return;
    command.waitFor(HOST_WAIT_MS, () => void command.settle(this.#unavailable()));
  }

  #unavailable(): Receipt {
    const message = `no process of the host ${this.#name} is connected: start the host, then try again`;
    return { type: 'failure', code: 'host_unavailable', message, retryable: true };
  }
}
