/** What every group of measurements is given. */
import { mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from './client.ts';
import type { Findings } from './findings.ts';
import type { Yardsticks } from './yardsticks.ts';

export interface Bench {
  readonly findings: Findings;
  readonly yardsticks: Yardsticks;
  /** The scripted model, as a client that calls it, and the processor time that it has taken so far, in seconds. */
  readonly model: { readonly client: Client; processorSeconds(): Promise<number> };
  /** On the disk that is measured; taken away at the end of the run. */
  readonly directory: string;
  readonly isLong: boolean;
  readonly cores: number;
  /** For the server of the turns: where it leaves a profile of its processor time. Null: it makes none. */
  readonly profileDirectory: string | null;
}

/** A group of measurements. */
export type Group = (bench: Bench) => Promise<void>;

/** A new directory for a server's data. */
export async function dataDirectory({ directory }: Bench): Promise<string> {
  return mkdtemp(path.join(directory, 'data-'));
}
