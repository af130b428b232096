/**
 * A disk in memory that can lose what was not flushed. Deterministic: whatever could go either way is asked of a function
 * that the test passes in.
 *
 * Two layers: what processes see (the system's cache), and what the device holds. Contents, lengths and names become
 * durable apart from one another, each when it is flushed.
 *
 *   - `kill` ends a process: its calls never answer again, its locks are free, and the next one sees all that it wrote.
 *   - `cutPower` ends all; then for every sector, length and name that was not flushed, any of the states that it had
 *     since may be on the device. A rename is one change: both its ends are there, or neither.
 *   - What is written through is a write and then a flush of its bytes and of the length: two calls here, each with a fate of
 *     its own, as the kernel does the one after the other. A process can die in between, and either can fail.
 *   - A write or a truncation changes whole sectors of the cache; a sector's every version may have reached the device.
 *   - After a failed flush contents and lengths stay readable and count as clean: only writing them again, and a flush
 *     after that, makes them durable. Names are in a file system's own log, which does not forget them: they stay pending.
 *
 * Faults come from one place: `plan` is asked about every call before it acts.
 */

import { createHash } from 'node:crypto';
import type { DiskDirectory, DiskFile, DiskLock, OpenMode, WatchableDisk } from '../../storage/disk.ts';
import { SimulatedDirectory, SimulatedFile, type ByteRange, type SimulatedNode } from './simulated-nodes.ts';

export type DiskCallKind =
  | 'open'
  | 'makeDirectory'
  | 'list'
  | 'rename'
  | 'remove'
  | 'syncDirectory'
  | 'lock'
  | 'read'
  | 'write'
  | 'truncate'
  | 'sync'
  | 'size'
  | 'mode'
  | 'close'
  | 'unlock';

export interface DiskCall {
  /** Counts all calls since the disk was made, from 1. */
  readonly number: number;
  readonly kind: DiskCallKind;
  /** The path as it was when the file was opened. */
  readonly path: string;
  /** Of a read or a write. */
  readonly bytes: number;
}

/** What becomes of a call. Without a field of these it acts and answers. */
export interface CallPlan {
  /** The call acts when this resolves. */
  readonly start?: Promise<unknown>;
  /** A write takes no more bytes than that. */
  readonly takes?: number;
  /** Rejects with this code, such as `EIO`, instead of acting; a write has taken `takes` bytes then, if that is given. */
  readonly fails?: string;
  /** The process dies before the call acts, or after it and before the answer. */
  readonly dies?: 'before' | 'after';
  /** The call has acted, and answers when this resolves. */
  readonly answer?: Promise<unknown>;
}

/** Answers a number from 0 to `count - 1`. */
export type Choose = (count: number) => number;

interface NameChange {
  readonly directory: SimulatedDirectory;
  readonly name: string;
  readonly node: SimulatedNode | null;
}

/** What one call did to names; durable when each of its directories has been flushed. */
interface NameOperation {
  readonly changes: readonly NameChange[];
  readonly awaited: Set<SimulatedDirectory>;
}

export class SimulatedDisk {
  /** Asked about each call; may be replaced at any time. */
  plan: (call: DiskCall) => CallPlan | undefined = () => undefined;
  /** A write that needs more takes what fits, then fails with `ENOSPC`. */
  capacityBytes = Infinity;
  /**
   * Whether a flush that fails leaves the blocks that the file had not had before empty for good, as ext4 may: what is
   * written there again is flushed without an error, is read out of the cache, and is not there after a power cut. Only a
   * file that was cut before them has others in their place.
   */
  losesRewrites = false;
  /** What all reads together were given. */
  bytesRead = 0;
  bytesWritten = 0;
  callCount = 0;
  /** How many processes have died. */
  deathCount = 0;

  readonly #root = new SimulatedDirectory();
  readonly #nodes: SimulatedNode[] = [this.#root];
  #operations: NameOperation[] = [];
  readonly #locks = new Map<SimulatedNode, SimulatedProcess>();
  readonly #processes = new Set<SimulatedProcess>();

  /** A new process, which sees the disk as it is. */
  boot(): SimulatedProcess {
    const process = new SimulatedProcess(this);
    this.#processes.add(process);
    return process;
  }

  kill(process: SimulatedProcess): void {
    if (this.#processes.delete(process)) this.deathCount += 1;
    for (const [node, owner] of this.#locks) {
      if (owner === process) this.#locks.delete(node);
    }
    process.end();
  }

  cutPower(choose: Choose): void {
    for (const process of this.#processes) this.kill(process);
    for (const operation of this.#operations) {
      if (choose(2) === 1) for (const change of operation.changes) change.directory.makeDurable(change.name, change.node);
    }
    this.#operations = [];
    for (const node of this.#nodes) node.losePower(choose);
  }

  /** A file's bytes as processes see them; null where there is no such file. */
  contents(path: string): Uint8Array | null {
    const node = this.#find(path);
    return node instanceof SimulatedFile ? node.contents() : null;
  }

  /** The files under a directory, with their bytes, as they would be left if the power went now and took all that it may. */
  durableFiles(path: string): ReadonlyMap<string, Uint8Array> {
    let node: SimulatedNode | undefined = this.#root;
    for (const name of namesOf(path)) node = node instanceof SimulatedDirectory ? node.durableEntries.get(name) : undefined;
    return node === undefined ? new Map() : new Map(durableFilesOf(node, path));
  }

  /** Changes a file's bytes behind everybody's back, on the device and in the cache. */
  damage(path: string, change: (bytes: Uint8Array) => Uint8Array): void {
    const node = this.#find(path);
    if (!(node instanceof SimulatedFile)) throw failure('ENOENT', path);
    node.replace(change(node.contents()));
  }

  /** The paths of all files under a directory, as processes see them, ascending. */
  files(path: string): readonly string[] {
    const node = this.#find(path);
    if (node === null) return [];
    if (node instanceof SimulatedFile) return [path];
    return [...node.entries.keys()].toSorted().flatMap((name) => this.files(`${path}/${name}`));
  }

  /** One call of a process: waits, acts, fails or dies as planned. */
  async call<T>(
    process: SimulatedProcess,
    call: { readonly kind: DiskCallKind; readonly path: string; readonly bytes?: number },
    act: (plan: CallPlan) => T,
  ): Promise<T> {
    if (process.hasEnded) return never();
    this.callCount += 1;
    const plan = this.plan({ bytes: 0, ...call, number: this.callCount }) ?? {};
    await plan.start;
    if (plan.dies === 'before') this.kill(process);
    if (process.hasEnded) return never();
    const isOwnFailure = call.kind === 'write' || call.kind === 'sync';
    const answer = settled(() => {
      if (plan.fails !== undefined && !isOwnFailure) throw failure(plan.fails, call.path);
      return act(plan);
    });
    if (plan.dies === 'after') this.kill(process);
    await plan.answer;
    return process.hasEnded ? never() : answer();
  }

  open(path: string, mode: OpenMode): SimulatedFile {
    const node = this.#find(path);
    if (isNew(mode)) {
      if (node !== null) throw failure('EEXIST', path);
      const file = new SimulatedFile();
      this.#nodes.push(file);
      this.#changeNames([{ ...this.#parent(path), node: file }]);
      return file;
    }
    if (node === null) throw failure('ENOENT', path);
    if (!(node instanceof SimulatedFile)) throw failure('EISDIR', path);
    return node;
  }

  makeDirectory(path: string): void {
    if (this.#find(path) !== null) throw failure('EEXIST', path);
    const directory = new SimulatedDirectory();
    this.#nodes.push(directory);
    this.#changeNames([{ ...this.#parent(path), node: directory }]);
  }

  list(path: string): readonly string[] {
    return [...this.#directory(path).entries.keys()].toReversed();
  }

  rename(from: string, to: string): void {
    const node = this.#find(from);
    if (node === null) throw failure('ENOENT', from);
    const replaced = this.#find(to);
    if (replaced instanceof SimulatedDirectory) {
      if (node instanceof SimulatedFile) throw failure('EISDIR', to);
      if (replaced.entries.size > 0) throw failure('ENOTEMPTY', to);
    } else if (replaced !== null && node instanceof SimulatedDirectory) {
      throw failure('ENOTDIR', to);
    }
    this.#changeNames([
      { ...this.#parent(from), node: null },
      { ...this.#parent(to), node },
    ]);
  }

  /** Every name under it goes by itself: a power cut may keep any of them. */
  remove(path: string): void {
    const node = this.#find(path);
    if (node === null) return;
    if (node instanceof SimulatedDirectory) for (const name of [...node.entries.keys()]) this.remove(`${path}/${name}`);
    this.#changeNames([{ ...this.#parent(path), node: null }]);
  }

  syncDirectory(path: string): void {
    const directory = this.#directory(path);
    for (const operation of this.#operations) operation.awaited.delete(directory);
    for (const { changes, awaited } of this.#operations) {
      if (awaited.size > 0) continue;
      for (const change of changes) change.directory.makeDurable(change.name, change.node);
    }
    this.#operations = this.#operations.filter(({ awaited }) => awaited.size > 0);
  }

  /** False where another process has it. */
  lock(process: SimulatedProcess, path: string): SimulatedNode | null {
    const node = this.#find(path) ?? this.open(path, 'create');
    if (this.#locks.has(node)) return null;
    this.#locks.set(node, process);
    return node;
  }

  unlock(node: SimulatedNode): void {
    this.#locks.delete(node);
  }

  /** How many bytes of a write fit: what is overwritten needs no room. */
  fitting(file: SimulatedFile, position: number, count: number): number {
    if (this.capacityBytes === Infinity) return count;
    const used = this.#nodes.reduce((total, node) => total + (node instanceof SimulatedFile ? this.#sizeOf(node) : 0), 0);
    return Math.max(0, Math.min(count, file.size - position + Math.max(0, this.capacityBytes - used)));
  }

  #sizeOf(file: SimulatedFile): number {
    return file.links > 0 ? file.size : 0;
  }

  #changeNames(changes: readonly NameChange[]): void {
    for (const { directory, name, node } of changes) directory.change(name, node);
    this.#operations.push({ changes, awaited: new Set(changes.map(({ directory }) => directory)) });
  }

  #directory(path: string): SimulatedDirectory {
    const node = this.#find(path);
    if (node === null) throw failure('ENOENT', path);
    if (node instanceof SimulatedFile) throw failure('ENOTDIR', path);
    return node;
  }

  #parent(path: string): { readonly directory: SimulatedDirectory; readonly name: string } {
    const names = namesOf(path);
    const name = names.pop();
    if (name === undefined) throw failure('EBUSY', path);
    return { directory: this.#directory(`/${names.join('/')}`), name };
  }

  #find(path: string): SimulatedNode | null {
    let node: SimulatedNode = this.#root;
    for (const name of namesOf(path)) {
      if (node instanceof SimulatedFile) throw failure('ENOTDIR', path);
      const next = node.entries.get(name);
      if (next === undefined) return null;
      node = next;
    }
    return node;
  }
}

/** The disk as one process has it, until it dies. */
export class SimulatedProcess implements WatchableDisk {
  readonly died: Promise<void>;
  readonly #disk: SimulatedDisk;
  #hasEnded = false;
  #announce: () => void = () => undefined;

  constructor(disk: SimulatedDisk) {
    this.#disk = disk;
    this.died = new Promise((resolve) => {
      this.#announce = resolve;
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The disk's own step of `kill`. */
  end(): void {
    this.#hasEnded = true;
    this.#announce();
  }

  async open(path: string, mode: OpenMode): Promise<DiskFile> {
    const file = await this.#disk.call(this, { kind: 'open', path }, () => this.#disk.open(path, mode));
    return new SimulatedHandle(this.#disk, this, { file, path, mode });
  }

  makeDirectory(path: string): Promise<void> {
    return this.#disk.call(this, { kind: 'makeDirectory', path }, () => this.#disk.makeDirectory(path));
  }

  list(path: string): Promise<readonly string[]> {
    return this.#disk.call(this, { kind: 'list', path }, () => this.#disk.list(path));
  }

  rename(from: string, to: string): Promise<void> {
    return this.#disk.call(this, { kind: 'rename', path: from }, () => this.#disk.rename(from, to));
  }

  remove(path: string): Promise<void> {
    return this.#disk.call(this, { kind: 'remove', path }, () => this.#disk.remove(path));
  }

  syncDirectory(path: string): Promise<void> {
    return this.#disk.call(this, { kind: 'syncDirectory', path }, () => this.#disk.syncDirectory(path));
  }

  openDirectory(path: string): Promise<DiskDirectory> {
    return this.#disk.call(this, { kind: 'open', path }, () => {
      this.#disk.list(path);
      return { sync: () => this.syncDirectory(path), close: () => this.#disk.call(this, { kind: 'close', path }, () => undefined) };
    });
  }

  /** By what is in the file: times are the world's. */
  stamp(path: string): Promise<string | null> {
    return this.#disk.call(this, { kind: 'size', path }, () => {
      const bytes = this.#disk.contents(path);
      return bytes === null ? null : createHash('sha256').update(bytes).digest('hex');
    });
  }

  async lock(path: string): Promise<DiskLock | null> {
    const node = await this.#disk.call(this, { kind: 'lock', path }, () => this.#disk.lock(this, path));
    if (node === null) return null;
    return { release: () => this.#disk.call(this, { kind: 'unlock', path }, () => this.#disk.unlock(node)) };
  }
}

class SimulatedHandle implements DiskFile {
  readonly #disk: SimulatedDisk;
  readonly #process: SimulatedProcess;
  readonly #file: SimulatedFile;
  readonly #path: string;
  readonly #mode: OpenMode;
  #isClosed = false;

  constructor(
    disk: SimulatedDisk,
    process: SimulatedProcess,
    opened: { readonly file: SimulatedFile; readonly path: string; readonly mode: OpenMode },
  ) {
    this.#disk = disk;
    this.#process = process;
    this.#file = opened.file;
    this.#path = opened.path;
    this.#mode = opened.mode;
  }

  read(buffer: Uint8Array, position: number): Promise<number> {
    return this.#call({ kind: 'read', bytes: buffer.length }, () => {
      const count = this.#file.read(buffer, position);
      this.#disk.bytesRead += count;
      return count;
    });
  }

  async write(bytes: Uint8Array, position: number): Promise<number> {
    const count = await this.#write(bytes, position);
    if (isThrough(this.#mode) && count > 0) await this.#sync({ from: position, to: position + count });
    return count;
  }

  #write(bytes: Uint8Array, position: number): Promise<number> {
    return this.#call({ kind: 'write', bytes: bytes.length }, ({ fails, takes }) => {
      this.#assertWritable();
      const wanted = Math.min(bytes.length, takes ?? (fails === undefined ? bytes.length : 0));
      const count = this.#disk.fitting(this.#file, position, wanted);
      this.#file.write(bytes.subarray(0, count), position);
      this.#disk.bytesWritten += count;
      if (fails !== undefined) throw failure(fails, this.#path);
      if (count === 0 && wanted > 0) throw failure('ENOSPC', this.#path);
      return count;
    });
  }

  truncate(length: number): Promise<void> {
    return this.#call({ kind: 'truncate' }, () => {
      this.#assertWritable();
      this.#file.truncate(length);
    });
  }

  sync(): Promise<void> {
    return this.#sync();
  }

  #sync(range?: ByteRange): Promise<void> {
    return this.#call({ kind: 'sync' }, ({ fails }) => {
      if (fails === undefined) {
        this.#file.flush(range);
        return;
      }
      this.#file.failFlush(this.#disk, range);
      throw failure(fails, this.#path);
    });
  }

  size(): Promise<number> {
    return this.#call({ kind: 'size' }, () => this.#file.size);
  }

  /** There is one user. */
  mode(): Promise<number> {
    return this.#call({ kind: 'mode' }, () => 0o600);
  }

  close(): Promise<void> {
    return this.#call({ kind: 'close' }, () => {
      this.#isClosed = true;
    });
  }

  #call<T>(call: { readonly kind: DiskCallKind; readonly bytes?: number }, act: (plan: CallPlan) => T): Promise<T> {
    return this.#disk.call(this.#process, { ...call, path: this.#path }, (plan) => {
      if (this.#isClosed) throw failure('EBADF', this.#path);
      return act(plan);
    });
  }

  #assertWritable(): void {
    if (this.#mode === 'read') throw failure('EBADF', this.#path);
  }
}

function isNew(mode: OpenMode): boolean {
  return mode === 'create' || mode === 'create-through';
}

function isThrough(mode: OpenMode): boolean {
  return mode === 'write-through' || mode === 'create-through';
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function* durableFilesOf(node: SimulatedNode, path: string): Generator<readonly [string, Uint8Array]> {
  if (node instanceof SimulatedFile) yield [path, node.durableContents()];
  else for (const [name, below] of node.durableEntries) yield* durableFilesOf(below, `${path}/${name}`);
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

/** Acts now, and answers or throws later. */
function settled<T>(act: () => T): () => T {
  try {
    const value = act();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Of a process that has died: whoever waits for it waits for ever. */
function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
