/**
 * Files and directories of the simulated disk: what the cache shows of each, what the device holds, and what may be on the
 * device besides.
 */
import { SECTOR_BYTES } from '../../storage/frame.ts';
import type { Choose } from './simulated-disk.ts';

const BLOCK_BYTES = 8 * SECTOR_BYTES;
const WHOLE: ByteRange = { from: 0, to: Infinity };

export type SimulatedNode = SimulatedFile | SimulatedDirectory;

/** Bytes of a file, from one place to before another. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** States that something had since it was last durable, oldest first. Without `isDirty` a flush passes them over. */
interface Pending<T> {
  readonly states: T[];
  isDirty: boolean;
}

export class SimulatedFile {
  /** In how many directories the cache shows it. */
  links = 0;
  #cache = new Uint8Array(0);
  #size = 0;
  #durable = new Uint8Array(0);
  #durableSize = 0;
  readonly #sectors = new Map<number, Pending<Uint8Array>>();
  readonly #sizes: Pending<number> = { states: [], isDirty: false };
  /** Sectors of new blocks that a flush failed for: the file system goes on taking them for empty until it gives them back. */
  readonly #empty = new Set<number>();

  get size(): number {
    return this.#size;
  }

  contents(): Uint8Array {
    return this.#cache.slice(0, this.#size);
  }

  /** What would be left if the power went now and nothing of what is not flushed had reached the device. */
  durableContents(): Uint8Array {
    return this.#durable.slice(0, this.#durableSize);
  }

  replace(bytes: Uint8Array): void {
    this.#cache = Uint8Array.from(bytes);
    this.#size = bytes.length;
    this.flushAll();
  }

  read(buffer: Uint8Array, position: number): number {
    const count = Math.max(0, Math.min(buffer.length, this.#size - position));
    buffer.set(this.#cache.subarray(position, position + count));
    return count;
  }

  write(bytes: Uint8Array, position: number): void {
    if (bytes.length === 0) return;
    const end = position + bytes.length;
    this.#cache = grown(this.#cache, end);
    this.#cache.set(bytes, position);
    if (end > this.#size) this.#resize(end);
    else if (end > this.#durableSize) this.#resize(this.#size);
    this.#touch(position, end);
  }

  truncate(length: number): void {
    if (length === this.#size) return;
    if (length < this.#size) {
      this.#cache.fill(0, length, this.#size);
      for (const sector of this.#empty) if (sector * SECTOR_BYTES >= length) this.#empty.delete(sector);
      this.#touch(length, this.#size);
    } else {
      this.#cache = grown(this.#cache, length);
    }
    this.#resize(length);
  }

  /** Contents in a range, or all; and the length. */
  flush(range: ByteRange = WHOLE): void {
    for (const [sector, pending] of this.#sectors) {
      if (!pending.isDirty || !isIn(range, sector)) continue;
      this.#keep(sector, pending.states.at(-1));
      this.#sectors.delete(sector);
    }
    if (this.#sizes.isDirty) {
      this.#keepSize(this.#size);
      this.#sizes.states.length = 0;
      this.#sizes.isDirty = false;
    }
  }

  failFlush({ losesRewrites }: { readonly losesRewrites: boolean }, range: ByteRange = WHOLE): void {
    for (const [sector, pending] of this.#sectors) {
      if (!isIn(range, sector)) continue;
      const isNew = Math.floor((sector * SECTOR_BYTES) / BLOCK_BYTES) * BLOCK_BYTES >= this.#durableSize;
      if (losesRewrites && pending.isDirty && isNew) this.#empty.add(sector);
      pending.isDirty = false;
    }
    this.#sizes.isDirty = false;
  }

  losePower(choose: Choose): void {
    for (const [sector, { states }] of [...this.#sectors].toSorted(([a], [b]) => a - b)) {
      const choice = choose(states.length + 1);
      if (choice > 0) this.#keep(sector, states[choice - 1]);
    }
    if (this.#sizes.states.length > 0) {
      const choice = choose(this.#sizes.states.length + 1);
      this.#keepSize(this.#sizes.states[choice - 1] ?? this.#durableSize);
    }
    this.#cache = this.#durable.slice(0, this.#durableSize);
    this.#size = this.#durableSize;
    this.flushAll();
  }

  flushAll(): void {
    this.#durable = this.#cache.slice(0, this.#size);
    this.#durableSize = this.#size;
    this.#sectors.clear();
    this.#empty.clear();
    this.#sizes.states.length = 0;
    this.#sizes.isDirty = false;
  }

  #resize(size: number): void {
    this.#size = size;
    this.#sizes.states.push(size);
    this.#sizes.isDirty = true;
  }

  #touch(start: number, end: number): void {
    for (let sector = Math.floor(start / SECTOR_BYTES); sector * SECTOR_BYTES < end; sector += 1) {
      const pending = this.#sectors.get(sector) ?? { states: [], isDirty: true };
      const from = sector * SECTOR_BYTES;
      const version = new Uint8Array(SECTOR_BYTES);
      version.set(this.#cache.subarray(from, Math.min(from + SECTOR_BYTES, this.#size)));
      pending.states.push(version);
      pending.isDirty = true;
      this.#sectors.set(sector, pending);
    }
  }

  #keep(sector: number, version: Uint8Array | undefined): void {
    if (version === undefined || this.#empty.has(sector)) return;
    const from = sector * SECTOR_BYTES;
    this.#durable = grown(this.#durable, from + SECTOR_BYTES);
    this.#durable.set(version, from);
  }

  /** Beyond its length a file has nothing: what was there is zero when the file grows again. */
  #keepSize(size: number): void {
    this.#durable = grown(this.#durable, size);
    this.#durable.fill(0, size);
    this.#durableSize = size;
  }
}

export class SimulatedDirectory {
  readonly entries = new Map<string, SimulatedNode>();
  readonly #durable = new Map<string, SimulatedNode>();

  get durableEntries(): ReadonlyMap<string, SimulatedNode> {
    return this.#durable;
  }

  /** Null takes the name away. */
  change(name: string, node: SimulatedNode | null): void {
    const before = this.entries.get(name);
    if (before instanceof SimulatedFile) before.links -= 1;
    if (node instanceof SimulatedFile) node.links += 1;
    set(this.entries, name, node);
  }

  makeDurable(name: string, node: SimulatedNode | null): void {
    set(this.#durable, name, node);
  }

  losePower(): void {
    for (const name of [...this.entries.keys()]) this.change(name, null);
    for (const [name, node] of this.#durable) this.change(name, node);
  }
}

function isIn({ from, to }: ByteRange, sector: number): boolean {
  return sector * SECTOR_BYTES < to && (sector + 1) * SECTOR_BYTES > from;
}

function set(entries: Map<string, SimulatedNode>, name: string, node: SimulatedNode | null): void {
  if (node === null) entries.delete(name);
  else entries.set(name, node);
}

function grown(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  if (bytes.length >= length) return bytes;
  const larger = new Uint8Array(Math.max(length, bytes.length * 2));
  larger.set(bytes);
  return larger;
}
