/**
 * A send whose caller may change their mind. Nothing but the turn that the send began is cancelled: a cancel that comes
 * before it would change nothing, and the turn would run.
 *
 *   C1. A signal that is aborted before the send sends nothing.
 *   C2. A cancel is sent when the journal shows that the message began its turn, and not before.
 *   C3. The caller is answered after the cancel and after the turn's end, which is looked for where the answer got lost.
 */
import type { TurnAnswer } from '../http/wire/answers.ts';
import { BrainAbortError, BrainConnectionError, BrainError, BrainTimeoutError } from './errors.ts';

/** How far a message is, by the journal. */
export type Progress = 'unknown' | 'running' | 'over';

export interface CancellableSend {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  send(): Promise<TurnAnswer>;
  progress(): Promise<Progress>;
  /** The same request each time. */
  cancel(): Promise<void>;
  /** A moment's wait. */
  pause(): Promise<void>;
}

export async function sendUntilAborted(sending: CancellableSend): Promise<TurnAnswer> {
  const { signal, idempotencyKey } = sending;
  if (signal.aborted) throw new BrainAbortError('the signal was aborted before the message was sent', { idempotencyKey, cause: signal.reason });
  const sent = settled(sending.send());
  if (!(await abortedBefore(sent.done, signal))) return sent.answer;
  const cancelling = new Cancelling(sending);
  await cancelling.whileOpen(sent);
  const turn = await cancelling.answerOf(sent);
  if (turn !== null && turn.error?.code !== 'cancelled') return turn;
  throw new BrainAbortError('the turn was cancelled', { ...(turn === null ? {} : { turn }), idempotencyKey, cause: signal.reason });
}

class Cancelling {
  readonly #sending: CancellableSend;
  #isCancelled = false;

  constructor(sending: CancellableSend) {
    this.#sending = sending;
  }

  /** Cancels the turn once it runs, unless its answer comes before that. */
  async whileOpen(sent: Settling<TurnAnswer>): Promise<void> {
    while (!sent.isOver && !this.#isCancelled) {
      try {
        await this.#step();
      } catch (error) {
        // What the network lost is tried again for as long as the turn may run. A refusal stays one.
        if (!(error instanceof BrainConnectionError)) return;
      }
      if (!this.#isCancelled) await Promise.race([sent.done, this.#sending.pause()]);
    }
  }

  /** Null: it got lost, and the turn was cancelled and is over. */
  async answerOf({ answer }: Settling<TurnAnswer>): Promise<TurnAnswer | null> {
    try {
      return await answer;
    } catch (error) {
      const isLost = error instanceof BrainConnectionError && !(error instanceof BrainTimeoutError);
      if (isLost && (await this.#isOverAfterAll())) return null;
      throw error;
    }
  }

  async #isOverAfterAll(): Promise<boolean> {
    try {
      while ((await this.#step()) === 'running') await this.#sending.pause();
    } catch (error) {
      if (error instanceof BrainConnectionError || error instanceof BrainError) return false;
      throw error;
    }
    return this.#isCancelled;
  }

  async #step(): Promise<Progress> {
    const progress = await this.#sending.progress();
    if (progress === 'running' && !this.#isCancelled) {
      await this.#sending.cancel();
      this.#isCancelled = true;
    }
    return progress;
  }
}

interface Settling<T> {
  readonly answer: Promise<T>;
  /** Resolves when the answer is there, and when there is none. */
  readonly done: Promise<void>;
  readonly isOver: boolean;
}

function settled<T>(answer: Promise<T>): Settling<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  const done = answer.then(over, over);
  return {
    answer,
    done,
    get isOver() {
      return isOver;
    },
  };
}

async function abortedBefore(done: Promise<void>, signal: AbortSignal): Promise<boolean> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<'aborted'>((resolve) => {
    stop = () => resolve('aborted');
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return (await Promise.race([done, aborted])) === 'aborted';
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
