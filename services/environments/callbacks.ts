/**
 * Callbacks: how an environment reports back on an operation that outlives its own answer.
 *
 *   K1. The token is of one operation. It is what the vault says of the operation's name, and is kept nowhere: a server
 *       that was started again knows a late report for what it is, and whoever has no token hears the same of every session.
 *   K2. A callback lives as long as its operation is open in this process. Of the results that are reported the first
 *       counts, and everything after it is refused as late.
 *   K3. Whoever reports a result is answered when the record of it is durable. Where another end stands its report was late;
 *       where the record of it failed, nobody knows, and it is told that.
 *   K4. A token is a secret in use while its callback is open.
 */
import type { JsonValue } from '../../machines/messages.ts';
import type { Sequence } from '../../machines/records.ts';
import { ServiceError } from '../errors.ts';
import type { Secrets } from '../secrets.ts';
import type { Vault } from '../vault.ts';
import type { Callback, CallbackMethod, FinalReceipt, Kept, OperationListener } from './operation.ts';

/** Which operation a callback is of. */
export interface OperationName {
  readonly sessionId: string;
  readonly sequence: Sequence;
}

/** What `http/` calls. Everything but `isToken` rejects with a `ServiceError`: `already_closed` where the operation is over. */
export interface CallbackService {
  /** Whether this is the operation's token, be it open or not. Asked before anything else. */
  isToken(name: OperationName, token: string): boolean;
  result(name: OperationName, receipt: FinalReceipt): Promise<void>;
  /** Resolves when the event is durable. */
  emit(name: OperationName, type: string, data: JsonValue): Promise<void>;
  progress(name: OperationName, progress: { readonly message?: string; readonly fraction?: number }): Promise<void>;
}

export interface CallbacksParts {
  readonly vault: Vault;
  readonly secrets: Secrets;
  /** What their addresses start with, as environments reach this server. Asked for each: it is known once the server listens. */
  readonly publicUrl: () => string;
}

/** A callback that waits for reports. */
export interface OpenCallback {
  readonly callback: Callback;
  /** The first result that is reported. Where it is closed before, that nobody knows. */
  readonly result: Promise<FinalReceipt>;
  /** What is reported from now on is late. The token stays a secret until the close: it may stand in what was answered. */
  refuse(): void;
  /** The result that was reported is on record, or the record of it failed. */
  recorded(failure?: ServiceError): void;
  close(): void;
}

interface Waiting {
  readonly listener: OperationListener | null;
  readonly settle: (receipt: FinalReceipt) => Promise<Kept>;
}

export class Callbacks implements CallbackService {
  readonly #parts: CallbacksParts;
  readonly #waiting = new Map<string, Waiting>();

  constructor(parts: CallbacksParts) {
    this.#parts = parts;
  }

  async open({ tenant, listener, ...name }: OperationName & { readonly tenant: string; readonly listener: OperationListener | null }): Promise<OpenCallback> {
    const { vault, secrets, publicUrl } = this.#parts;
    const key = keyOf(name);
    const token = Buffer.from(await vault.mac('callback', key)).toString('base64url');
    const release = secrets.hold(tenant, token);
    let report: (receipt: FinalReceipt) => void = () => undefined;
    let keep: (kept: Kept) => void = () => undefined;
    const result = new Promise<FinalReceipt>((resolve) => {
      report = resolve;
    });
    const kept = new Promise<Kept>((resolve) => {
      keep = resolve;
    });
    const waiting: Waiting = {
      listener,
      settle: (receipt) => {
        report(receipt);
        return kept;
      },
    };
    this.#waiting.set(key, waiting);
    const refuse = (): void => {
      if (this.#waiting.get(key) === waiting) this.#waiting.delete(key);
      keep('late');
    };
    const methods: readonly CallbackMethod[] = listener === null ? ['result'] : ['result', 'emit', 'progress'];
    return {
      callback: { url: `${publicUrl()}/v1/callbacks/${key}`, token, methods },
      result,
      refuse,
      recorded: (failure) => {
        keep(failure ?? 'recorded');
      },
      close: () => {
        refuse();
        report({ type: 'unknown', message: 'the operation was closed before its result came' });
        release();
      },
    };
  }

  isToken(name: OperationName, token: string): boolean {
    const bytes = Buffer.from(token, 'base64url');
    return bytes.toString('base64url') === token && this.#parts.vault.isMac('callback', keyOf(name), bytes);
  }

  async result(name: OperationName, receipt: FinalReceipt): Promise<void> {
    const { settle } = this.#find(name);
    this.#waiting.delete(keyOf(name));
    const kept = await settle(receipt);
    if (kept !== 'recorded') throw kept === 'late' ? alreadyClosed() : kept;
  }

  async emit(name: OperationName, type: string, data: JsonValue): Promise<void> {
    await this.#listenerOf(name).emit(type, data);
  }

  async progress(name: OperationName, progress: { readonly message?: string; readonly fraction?: number }): Promise<void> {
    this.#listenerOf(name).progress(progress);
  }

  #listenerOf(name: OperationName): OperationListener {
    const { listener } = this.#find(name);
    if (listener === null) throw new ServiceError('invalid_request', 'this operation reports nothing but its result');
    return listener;
  }

  #find(name: OperationName): Waiting {
    const waiting = this.#waiting.get(keyOf(name));
    if (waiting === undefined) throw alreadyClosed();
    return waiting;
  }
}

function alreadyClosed(): ServiceError {
  return new ServiceError('already_closed', 'this operation is over');
}

function keyOf({ sessionId, sequence }: OperationName): string {
  return `${sessionId}/${sequence}`;
}
