/**
 * Environments over HTTP: `POST {url}/v1/operations`, once for each operation.
 *
 *   H1. What is known not to have been carried out is a `failure`: it was never sent, or the environment did not let it in
 *       (401, 403, 404). Everything else that is no receipt of this very operation is `unknown`.
 *   H2. An `invoke` has a callback from before it is sent until it is closed. Of its answer and its callback the first
 *       final receipt counts.
 *   H3. No text of an answer is in what is said of it, and neither is the credential.
 */
import type { Sequence } from '../../machines/records.ts';
import type { ServiceError } from '../errors.ts';
import type { Clock, Log } from '../ports.ts';
import type { Callbacks, OpenCallback } from './callbacks.ts';
import type { EnvironmentTransport, PostOutcome } from './environment-transport.ts';
import { ENVIRONMENT_CONTRACT, type EnvironmentDriver, type Operation, type OperationCall, type Receipt, type SentOperation } from './operation.ts';
import { readAnswer } from './receipts.ts';

// Whoever waits for an executor to stop has a bound of its own; this one is for the connection.
const CANCEL_MS_MAX = 60_000;

export interface HttpDriverParts {
  readonly transport: EnvironmentTransport;
  readonly callbacks: Pick<Callbacks, 'open'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function httpDriver(parts: HttpDriverParts): EnvironmentDriver {
  return { send: (call) => new HttpOperation(parts, call) };
}

class HttpOperation implements SentOperation {
  readonly receipt: Promise<Receipt>;
  readonly #parts: HttpDriverParts;
  readonly #call: OperationCall;
  readonly #giveUp = new AbortController();
  #callback: OpenCallback | null = null;
  #mayHaveArrived = false;

  constructor(parts: HttpDriverParts, call: OperationCall) {
    this.#parts = parts;
    this.#call = call;
    this.receipt = call.operation.request.type === 'invoke' ? this.#invoke() : this.#post(call.operation);
  }

  atDeadline(): 'timeout' {
    return 'timeout';
  }

  mayHaveArrived(): boolean {
    return this.#mayHaveArrived;
  }

  recorded(failure?: ServiceError): void {
    this.#callback?.recorded(failure);
  }

  async close(cancelAs: Sequence | null): Promise<void> {
    this.#callback?.close();
    this.#giveUp.abort();
    if (cancelAs !== null && this.#call.operation.request.type === 'invoke' && this.#mayHaveArrived) await this.#cancel(cancelAs);
  }

  async #invoke(): Promise<Receipt> {
    const { operation, tenant, listener } = this.#call;
    const { session_id: sessionId, sequence } = operation;
    try {
      this.#callback = await this.#parts.callbacks.open({ tenant, sessionId, sequence, listener });
    } catch (error) {
      this.#parts.log.error('callback_not_made', { session_id: sessionId, sequence, error: String(error) });
      return { type: 'failure', code: 'not_sent', message: 'nothing was sent: no callback could be made for it; the log of the server says why', retryable: true };
    }
    const { callback, result } = this.#callback;
    if (this.#giveUp.signal.aborted) this.#callback.close();
    const first = await Promise.race([
      result.then((receipt) => ({ receipt, isReported: true })),
      this.#post({ ...operation, callback }).then((receipt: Receipt) => ({ receipt, isReported: false })),
    ]);
    if (first.isReported) return first.receipt;
    if (first.receipt.type === 'accepted') return result;
    // What is reported after a final answer is late.
    this.#callback.refuse();
    return first.receipt;
  }

  async #post(operation: Operation): Promise<Receipt> {
    const onSent = (): void => {
      this.#mayHaveArrived = true;
    };
    const outcome = await this.#send(operation, { signal: this.#giveUp.signal, onSent });
    return receiptOf(outcome, operation);
  }

  /** Tells the executor to stop, once, and waits for its answer. What it answers changes nothing any more. */
  async #cancel(sequence: Sequence): Promise<void> {
    const { clock, log } = this.#parts;
    const { session_id, environment, sequence: target_sequence } = this.#call.operation;
    const giveUp = new AbortController();
    const endBound = clock.after(CANCEL_MS_MAX, () => {
      giveUp.abort();
    });
    const operation: Operation = { session_id, environment, sequence, request: { type: 'cancel', target_sequence } };
    const receipt = receiptOf(await this.#send(operation, { signal: giveUp.signal, onSent: () => undefined }), operation);
    endBound();
    if (receipt.type === 'accepted' || receipt.type === 'result') return;
    log.warn('cancel_not_taken', { session_id, sequence: target_sequence, environment, receipt: receipt.type });
  }

  #send(operation: Operation, { signal, onSent }: { readonly signal: AbortSignal; readonly onSent: () => void }): Promise<PostOutcome> {
    const { environment, credential } = this.#call;
    if (environment.driver !== 'http') throw new TypeError(`the environment ${environment.name} is not reached over HTTP`);
    if (signal.aborted) return Promise.resolve({ kind: 'not_sent', reason: 'it was given up' });
    return this.#parts.transport.post({
      url: `${environment.url}/v1/operations`,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        'Idempotency-Key': `${operation.session_id}/${operation.sequence}`,
        ...(credential === null ? {} : { Authorization: `Bearer ${credential}` }),
      },
      body: JSON.stringify({ contract: ENVIRONMENT_CONTRACT, operation }),
      signal,
      onSent,
    });
  }
}

/** Answers with which an environment does not let an operation in: what they come from, for an operator. */
const REFUSALS: Readonly<Record<number, { readonly code: string; readonly words: string }>> = {
  401: { code: 'unauthorized', words: 'does not know the credential (401); look at the credential that its declaration names' },
  403: { code: 'forbidden', words: 'does not let this credential in (403); look at what the credential of its declaration may do' },
  404: { code: 'not_found', words: 'takes no operations at its url (404); look at the url of its declaration' },
};

function receiptOf(outcome: PostOutcome, { environment, sequence }: Operation): Receipt {
  switch (outcome.kind) {
    case 'not_sent': {
      const message = `nothing was sent: the environment ${environment} was not reached: ${outcome.reason}; look at the url of its declaration, and whether it runs`;
      return { type: 'failure', code: 'not_reached', message, retryable: true };
    }
    case 'lost':
      return unknown(`the environment ${environment} was asked, and its answer was lost: ${outcome.reason}`);
    case 'answered': {
      const refusal = REFUSALS[outcome.status];
      if (refusal !== undefined) return { type: 'failure', code: refusal.code, message: `the environment ${environment} ${refusal.words}`, retryable: false };
      if (outcome.status !== 200) return unknown(`the environment ${environment} answered with the status ${outcome.status}, which says nothing of what was done`);
      const answer = readAnswer(outcome.text, sequence);
      return answer.ok ? answer.receipt : unknown(`the answer of the environment ${environment} cannot be used: ${answer.reason}`);
    }
  }
}

function unknown(message: string): Receipt {
  return { type: 'unknown', message };
}
