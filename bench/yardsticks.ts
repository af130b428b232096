/**
 * What everything is measured with, beside it and in the same run, so that a figure says more of the server than of the
 * machine or of what else it does at the moment.
 *
 *   F         an append of 512 bytes and its `fdatasync`, on the disk that the server writes to, in milliseconds.
 *   E1, E64   an echo on the server's own HTTP stack: its time with 1 connection, its rate with 64.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { Client } from './client.ts';
import type { Findings, LatencyName } from './findings.ts';
import { rateOf, timed } from './load.ts';
import { Program } from './program.ts';
import { p50 } from './statistics.ts';

const FLUSHED = 'a'.repeat(512);
const MESSAGE = { input: 'How long does it take to hear this again?' };
const ECHO_CONNECTIONS = 64;
const WARM_UP_SECONDS = 0.5;
const LOOK_SAMPLES = 100;
const LOOK_SECONDS = 0.4;

export class Yardsticks {
  readonly #file: number;
  readonly #echo: Program;
  readonly #client: Client;
  readonly #findings: Findings;

  private constructor(file: number, echo: Program, findings: Findings) {
    this.#file = file;
    this.#echo = echo;
    this.#client = new Client(echo.url);
    this.#findings = findings;
  }

  /** `directory`: on the disk that the server writes to. */
  static async start(directory: string, findings: Findings): Promise<Yardsticks> {
    const echo = await Program.start({ file: 'bench/echo-server.js' });
    return new Yardsticks(openSync(path.join(directory, 'flushed'), 'a'), echo, findings);
  }

  /** Once F, in milliseconds. Nothing else of this process goes on meanwhile. */
  flush(): number {
    const startedAt = performance.now();
    writeSync(this.#file, FLUSHED);
    fdatasyncSync(this.#file);
    return performance.now() - startedAt;
  }

  async echo(): Promise<void> {
    await this.#client.post('/echo/one/messages', MESSAGE);
  }

  /** Does it `count` times, in turns with F. Answers the p50 of each latency that it tells, in F of this very moment. */
  async inFlushes<N extends LatencyName>(count: number, once: () => Promise<Record<N, number>>): Promise<Record<N, number>> {
    const flushes: number[] = [];
    const samples = new Map<N, number[]>();
    for (let time = 0; time < count; time += 1) {
      flushes.push(this.flush());
      const told = await once();
      for (const name of namesOf(told)) samples.set(name, [...(samples.get(name) ?? []), told[name]]);
    }
    const flush = p50(flushes);
    this.#findings.addFlush(flush);
    this.#findings.addLatencies('flush (F)', flushes);
    const told = [...samples].map(([name, values]): [N, number] => {
      this.#findings.addLatencies(name, values);
      return [name, p50(values) / flush];
    });
    return Object.fromEntries(told) as Record<N, number>;
  }

  /** E1 of this moment. */
  async echoMs(count: number): Promise<number> {
    const samples: number[] = [];
    for (let time = 0; time < count; time += 1) samples.push(await timed(() => this.echo()));
    const middle = p50(samples);
    this.#findings.addEchoTime(middle);
    this.#findings.addLatencies('echo (E1)', samples);
    return middle;
  }

  /** Code that runs for the first time is slow, in a way that nothing is for long. */
  async warmUp(): Promise<void> {
    await rateOf([() => this.echo()], WARM_UP_SECONDS);
  }

  /** E64 of this moment. */
  async echoRate(seconds: number): Promise<number> {
    const { count } = await rateOf(Array.from({ length: ECHO_CONNECTIONS }, () => () => this.echo()), seconds);
    this.#findings.addEchoRate(count / seconds);
    return count / seconds;
  }

  /** All three, on their own: between groups of measurements. */
  async look(): Promise<void> {
    await this.inFlushes(LOOK_SAMPLES, () => Promise.resolve({}));
    await this.echoMs(LOOK_SAMPLES);
    await this.echoRate(LOOK_SECONDS);
  }

  async stop(): Promise<void> {
    closeSync(this.#file);
    await this.#client.close();
    await this.#echo.stop();
  }
}

function namesOf<N extends string>(told: Readonly<Record<N, number>>): readonly N[] {
  return Object.keys(told) as N[];
}
