/**
 * One session on a simulated disk, and all that may be true of it. Steps are taken under a fault or a death; what may be
 * found afterwards follows from what was acknowledged, and from what was under way.
 */
import { expect } from 'vitest';
import { FileSessionStore } from '../../../storage/file-session-store.ts';
import { StorageError, type Journal } from '../../../storage/journal.ts';
import { codeOf, collect, frameOf, ID, textOf } from '../../support/frames.ts';
import type { CallPlan, Choose, DiskCall, SimulatedDisk, SimulatedProcess } from '../../support/simulated-disk.ts';

/** What happens at some call of a step, counted from its beginning. */
export interface Fate {
  readonly atCall: number;
  readonly plan: CallPlan;
}

export type Step =
  | { readonly kind: 'append'; readonly text: string }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'remove' }
  | { readonly kind: 'checkpoint' };

const DIED = Symbol('the process died');
const PATH = '/srv/data';

export class CrashModel {
  readonly #disk: SimulatedDisk;
  readonly #choose: Choose;
  /** The frames that were acknowledged or shown. */
  #known: string[] = [];
  /** A frame that was being written when its outcome was lost. */
  #doubtful: string | null = null;
  #removal: 'none' | 'doubtful' = 'none';
  #checkpoints: string[] = [];
  #process: SimulatedProcess | null = null;
  #store: FileSessionStore | null = null;
  #journal: Journal | null = null;
  #written = 0;
  /** Whether what is on the disk is known: there is no journal then because there is no session. */
  #isSeen = false;

  constructor(disk: SimulatedDisk, choose: Choose) {
    this.#disk = disk;
    this.#choose = choose;
  }

  /**
   * Takes a step. After a death, `power` says whether the device loses what was not flushed. Before it ends everything is
   * looked at, unless that is left to the next step, which then meets its fate on the way there.
   */
  async take(step: Step, fate: Fate | null, { power, look }: { power: 'stays' | 'fails'; look: 'now' | 'later' }): Promise<void> {
    const first = this.#disk.callCount;
    let hasFailed = false;
    this.#disk.plan = (call: DiskCall) => {
      if (fate === null || call.number !== first + fate.atCall) return undefined;
      hasFailed = fate.plan.fails !== undefined;
      return fate.plan;
    };
    const outcome = await this.#untilDeath(this.#perform(step, () => hasFailed));
    // What a step leaves to be done behind it meets its fate too.
    await new Promise((resolve) => setImmediate(resolve));
    this.#disk.plan = () => undefined;
    if (outcome === DIED || this.#process?.hasEnded === true) this.#die(power);
    if (look === 'now') await this.#look();
  }

  async crash(power: 'stays' | 'fails'): Promise<void> {
    this.#die(power);
    await this.#look();
  }

  #die(power: 'stays' | 'fails'): void {
    if (power === 'fails') this.#disk.cutPower(this.#choose);
    else if (this.#process !== null) this.#disk.kill(this.#process);
    this.#process = null;
    this.#store = null;
    this.#journal = null;
    this.#isSeen = false;
  }

  async #untilDeath(work: Promise<void>): Promise<unknown> {
    const death = this.#process?.died ?? new Promise<never>(() => undefined);
    return Promise.race([work, death.then(() => DIED)]);
  }

  async #perform(step: Step, hasFailed: () => boolean): Promise<void> {
    let store: FileSessionStore;
    try {
      store = await this.#openStore();
    } catch (error) {
      expect(hasFailed(), `the data directory cannot be opened: ${String(error)}`).toBe(true);
      return;
    }
    if (!this.#isSeen) await this.#open(store, hasFailed);
    if (!this.#isSeen) return;
    if (step.kind === 'append') {
      await this.#append(store, step.text, hasFailed);
    } else if (step.kind === 'reopen') {
      await this.#release();
      await this.#open(store, hasFailed);
    } else if (step.kind === 'remove') {
      await this.#release();
      await this.#remove(store, hasFailed);
    } else {
      const text = `checkpoint ${this.#checkpoints.length}`;
      if (this.#known.length > 0) this.#checkpoints.push(text);
      await store.writeCheckpoint(ID, Buffer.from(text));
    }
  }

  async #append(store: FileSessionStore, text: string, hasFailed: () => boolean): Promise<void> {
    let journal = this.#journal;
    if (journal === null) {
      try {
        journal = await store.create(ID);
      } catch (error) {
        expect(hasFailed(), `a session cannot be created: ${String(error)}`).toBe(true);
        return;
      }
      this.#journal = journal;
    }
    this.#written += 1;
    // A text that was never written before, so that nothing can pass for what it is not.
    const written = `${this.#written}:${text}`;
    this.#doubtful = written;
    const code = await codeOf(journal.append(frameOf(this.#known.length + 1, 1, written)));
    if (code === 'none') {
      this.#known.push(written);
      this.#doubtful = null;
      return;
    }
    expect(hasFailed(), `an append failed by itself: ${String(code)}`).toBe(true);
    expect(await codeOf(collect(journal.read(0)))).toBe('journal_unavailable');
    await journal.release();
    this.#journal = null;
    this.#isSeen = false;
  }

  async #release(): Promise<void> {
    await this.#journal?.release();
    this.#journal = null;
    this.#isSeen = false;
  }

  async #remove(store: FileSessionStore, hasFailed: () => boolean): Promise<void> {
    this.#removal = 'doubtful';
    const code = await codeOf(store.remove(ID));
    if (code !== 'none') expect(hasFailed(), `a removal failed by itself: ${String(code)}`).toBe(true);
    else this.#forget();
  }

  /** Without faults everything opens again, and shows what it must. */
  async #look(): Promise<void> {
    const store = await this.#openStore();
    if (this.#journal !== null) this.#verify(this.#journal, (await textsOf(this.#journal)) ?? []);
    else if (!this.#isSeen || this.#known.length > 0) await this.#open(store, () => false);
    const checkpoint = await store.readCheckpoint(ID);
    if (checkpoint !== null) expect(this.#checkpoints).toContain(textOf(checkpoint));
  }

  async #openStore(): Promise<FileSessionStore> {
    if (this.#store !== null) return this.#store;
    this.#process ??= this.#disk.boot();
    this.#store = await FileSessionStore.open({ disk: this.#process, path: PATH, log: { warn: () => undefined } });
    return this.#store;
  }

  async #open(store: FileSessionStore, hasFailed: () => boolean): Promise<void> {
    let journal: Journal;
    try {
      journal = await store.open(ID);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : error;
      if (hasFailed() && code !== 'session_not_found') {
        expect(['journal_unavailable', 'disk_full']).toContain(code);
        return;
      }
      expect(code).toBe('session_not_found');
      expect(this.#known.length === 0 || this.#removal === 'doubtful', 'an acknowledged session is gone').toBe(true);
      this.#forget();
      return;
    }
    const texts = await textsOf(journal);
    if (texts === null) {
      expect(hasFailed(), 'a journal does not read').toBe(true);
      await journal.release();
      return;
    }
    this.#journal = journal;
    this.#verify(journal, texts);
  }

  #verify(journal: Journal, texts: readonly string[]): void {
    const possible = [this.#known, ...(this.#doubtful === null ? [] : [[...this.#known, this.#doubtful]])];
    expect(possible).toContainEqual(texts);
    expect(journal.lastSequence).toBe(texts.length);
    // What has been shown is as good as acknowledged, and what was not there then never comes back.
    this.#isSeen = true;
    this.#known = [...texts];
    this.#doubtful = null;
    this.#removal = 'none';
  }

  #forget(): void {
    this.#isSeen = true;
    this.#known = [];
    this.#doubtful = null;
    this.#removal = 'none';
    this.#checkpoints = [];
  }
}

/** What a journal shows; null where it cannot be read now. */
async function textsOf(journal: Journal): Promise<readonly string[] | null> {
  try {
    return (await collect(journal.read(0))).map(({ payload }) => textOf(payload));
  } catch (error) {
    expect(['journal_unavailable', 'disk_full']).toContain(error instanceof StorageError ? error.code : error);
    return null;
  }
}
