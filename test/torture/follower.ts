/** Follows one session over its event stream, across deaths of the server and of its own connection. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RecordedEvent } from '../support/brain-api.ts';
import { SseReader, type Frame } from '../support/sse-reader.ts';
import type { SeededRandom } from './seeded-random.ts';

export class Follower {
  readonly seen: RecordedEvent[] = [];
  readonly faults: string[] = [];
  connections = 0;
  /** How each connection was answered, and where it began. */
  readonly #statuses: string[] = [];
  readonly #sessionId: string;
  readonly #url: () => string | null;
  readonly #random: SeededRandom;
  #reader: SseReader | null = null;
  #isStopped = false;
  /** Why it reads no more: the session's last event was shown, or the session is gone. */
  end: 'none' | 'over' | 'gone' = 'none';
  readonly #run: Promise<void>;

  constructor(sessionId: string, url: () => string | null, random: SeededRandom) {
    this.#sessionId = sessionId;
    this.#url = url;
    this.#random = random;
    this.#run = this.#follow();
  }

  get lastSequence(): number {
    return this.seen.at(-1)?.sequence ?? 0;
  }

  /** Drops the connection, as a client on a bad line does. */
  drop(): void {
    this.#reader?.close();
  }

  /** Waits until it has come so far; says so where it does not. */
  async reach(sequence: number, waitMs = 30_000): Promise<void> {
    const deadline = Date.now() + waitMs;
    while (this.lastSequence < sequence && this.end !== 'gone') {
      if (Date.now() > deadline) {
        this.faults.push(`saw ${this.lastSequence} and not ${sequence} within ${waitMs} ms; its connections: ${this.#statuses.slice(-6).join(', ')}; ${this.#reader === null ? 'none is' : 'one is'} open`);
        return;
      }
      await delay(5);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#reader?.close();
    await this.#run;
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped && this.end === 'none') {
      const url = this.#url();
      const reader = url === null ? null : await this.#open(url);
      if (reader === null) {
        await delay(10);
        continue;
      }
      this.connections += 1;
      this.#reader = reader;
      this.#statuses.push(`${reader.status} after ${this.lastSequence}`);
      const dropTimer = setTimeout(() => reader.close(), 100 + this.#random.below(3000));
      await reader.ended;
      clearTimeout(dropTimer);
      this.#reader = null;
      if (reader.status === 204) this.end = 'over';
      else if (reader.status === 404) this.end = 'gone';
      else if (reader.status !== 200) await delay(20);
    }
  }

  async #open(url: string): Promise<SseReader | null> {
    try {
      const resumption = this.lastSequence === 0 ? {} : { lastEventId: String(this.lastSequence) };
      const onFrame = (frame: Frame): void => this.#see(frame);
      const reader = await SseReader.open(`${url}/v1/sessions/${this.#sessionId}/events`, { ...resumption, onFrame });
      if (this.#isStopped) reader.close();
      return reader;
    } catch {
      return null;
    }
  }

  #see({ id, event, data }: Frame): void {
    if (id === undefined) return;
    const shown = JSON.parse(data) as RecordedEvent;
    if (String(shown.sequence) !== id || shown.type !== event) this.faults.push(`frame ${id} ${String(event)} holds ${data.slice(0, 200)}`);
    if (shown.sequence <= this.lastSequence) this.faults.push(`saw ${shown.sequence} after ${this.lastSequence}`);
    this.seen.push(shown);
  }
}
