/** What a run has measured so far: figures, a value a round, and latencies, a sample each time. */
import type { FigureName } from './figure-table.ts';

/** What is timed one by one, in milliseconds. */
export type LatencyName =
  | 'flush (F)'
  | 'echo (E1)'
  | 'model call'
  | 'model call, long conversation'
  | 'synchronous turn'
  | 'turn, new conversation'
  | 'turn, long conversation'
  | 'turn, session in memory'
  | 'tool loop'
  | 'create'
  | 'asynchronous message'
  | 'queued message'
  | 'first durable event'
  | 'first delta'
  | 'append at 50 records'
  | 'append at 5,000 records'
  | 'append at 50,000 records';

export class Findings {
  readonly #figures = new Map<FigureName, number[]>();
  readonly #latencies = new Map<LatencyName, number[]>();
  readonly #echoRates: number[] = [];
  readonly #echoTimes: number[] = [];
  readonly #flushes: number[] = [];
  readonly #notes: string[] = [];

  add(name: FigureName, value: number): void {
    this.#figures.set(name, [...this.figure(name), value]);
  }

  addLatencies(name: LatencyName, samples: readonly number[]): void {
    this.#latencies.set(name, [...this.latency(name), ...samples]);
  }

  /** E64 of a moment, in requests a second. */
  addEchoRate(rate: number): void {
    this.#echoRates.push(rate);
  }

  /** E1 of a moment, in milliseconds. */
  addEchoTime(ms: number): void {
    this.#echoTimes.push(ms);
  }

  /** F of a moment, in milliseconds. */
  addFlush(ms: number): void {
    this.#flushes.push(ms);
  }

  /** What a reader of the figures has to know of this run. */
  note(text: string): void {
    this.#notes.push(text);
  }

  figure(name: FigureName): readonly number[] {
    return this.#figures.get(name) ?? [];
  }

  latency(name: LatencyName): readonly number[] {
    return this.#latencies.get(name) ?? [];
  }

  get latencies(): ReadonlyMap<LatencyName, readonly number[]> {
    return this.#latencies;
  }

  get echoRates(): readonly number[] {
    return this.#echoRates;
  }

  get echoTimes(): readonly number[] {
    return this.#echoTimes;
  }

  get flushes(): readonly number[] {
    return this.#flushes;
  }

  get notes(): readonly string[] {
    return this.#notes;
  }
}
