/**
 * The commands that this process was given, each carried out once.
 *
 *   K1. A command that was seen is not carried out again, however often it is told. One that has ended is answered again.
 *   K2. A cancel aborts the command's signal. What a command says after that is reported, so that Brain hears that it stopped.
 *   K3. A cancel of a command that never came here is answered, too, and the command is not begun any more.
 *   K4. What is kept of commands that have ended is bounded. Where the receipt is gone, the answer is that nobody knows.
 */
import { BrainAbortError } from './errors.ts';
import { commandKey, failure, type CommandName, type HostNews, type HostOperation, type HostReceipt } from './host-wire.ts';

const KEPT_KEYS_MAX = 100_000;
const KEPT_RECEIPTS_MAX = 1_000;
const KEPT_CHARACTERS_MAX = 4 * 1024 * 1024;

export interface HostCommandsParts {
  carryOut(operation: HostOperation, signal: AbortSignal): Promise<HostReceipt>;
  /** Never rejects. Resolves when it was taken, was refused, or cannot be said any more. */
  report(name: CommandName, receipt: HostReceipt): Promise<void>;
}

export class HostCommands {
  readonly #parts: HostCommandsParts;
  readonly #running = new Map<string, AbortController>();
  readonly #ended = new EndedCommands();
  readonly #reporting = new Set<string>();

  constructor(parts: HostCommandsParts) {
    this.#parts = parts;
  }

  hear(news: HostNews): void {
    const name = news.type === 'command' ? news.operation : news;
    const key = commandKey(name);
    if (this.#ended.has(key)) void this.#report(name, this.#ended.receiptOf(key));
    else if (news.type === 'command') void this.#run(key, news.operation);
    else this.#cancel(key, name);
  }

  /** Nobody waits for any of them: each is told, and none is waited for. */
  abandon(reason: Error): void {
    for (const command of this.#running.values()) command.abort(reason);
  }

  async #run(key: string, operation: HostOperation): Promise<void> {
    if (this.#running.has(key)) return;
    const command = new AbortController();
    this.#running.set(key, command);
    const receipt = await this.#parts.carryOut(operation, command.signal);
    this.#running.delete(key);
    this.#ended.add(key, receipt);
    await this.#report(operation, receipt);
  }

  #cancel(key: string, name: CommandName): void {
    const command = this.#running.get(key);
    if (command !== undefined) {
      command.abort(new BrainAbortError('nobody waits for this call any more'));
      return;
    }
    const receipt = failure('not_started', 'it was cancelled before it came here');
    this.#ended.add(key, receipt);
    void this.#report(name, receipt);
  }

  async #report(name: CommandName, receipt: HostReceipt): Promise<void> {
    const key = commandKey(name);
    if (this.#reporting.has(key)) return;
    this.#reporting.add(key);
    await this.#parts.report({ session_id: name.session_id, sequence: name.sequence }, receipt);
    this.#reporting.delete(key);
  }
}

class EndedCommands {
  readonly #keys = new Set<string>();
  readonly #receipts = new Map<string, { readonly receipt: HostReceipt; readonly characters: number }>();
  #characters = 0;

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  receiptOf(key: string): HostReceipt {
    return this.#receipts.get(key)?.receipt ?? { type: 'unknown', message: 'the call has ended, and what came of it is not kept any more' };
  }

  add(key: string, receipt: HostReceipt): void {
    const { length: characters } = JSON.stringify(receipt);
    this.#keys.add(key);
    this.#receipts.set(key, { receipt, characters });
    this.#characters += characters;
    while (this.#receipts.size > KEPT_RECEIPTS_MAX || this.#characters > KEPT_CHARACTERS_MAX) this.#dropOldest();
    const [oldest] = this.#keys;
    if (this.#keys.size > KEPT_KEYS_MAX && oldest !== undefined) this.#keys.delete(oldest);
  }

  #dropOldest(): void {
    for (const [key, { characters }] of this.#receipts) {
      this.#receipts.delete(key);
      this.#characters -= characters;
      return;
    }
  }
}
