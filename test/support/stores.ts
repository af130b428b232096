/** Session stores on a simulated disk, and what they log. */
import { FileSessionStore } from '../../storage/file-session-store.ts';
import { segmentName } from '../../storage/segment.ts';
import { frameOf, ID } from './frames.ts';
import type { DiskCall, DiskCallKind, SimulatedDisk, SimulatedProcess } from './simulated-disk.ts';

export const ROOT = '/srv/data';

export interface RunningStore {
  readonly process: SimulatedProcess;
  readonly store: FileSessionStore;
  readonly logged: readonly Logged[];
}

export type Logged = Readonly<Record<string, unknown>> & { readonly event: string };

export async function startStore(disk: SimulatedDisk): Promise<RunningStore> {
  const logged: Logged[] = [];
  const process = disk.boot();
  const log = { warn: (event: string, facts: Readonly<Record<string, unknown>>) => void logged.push({ event, ...facts }) };
  return { process, store: await FileSessionStore.open({ disk: process, path: ROOT, log }), logged };
}

/** After a power cut that keeps nothing but what was flushed. */
export async function startAfterPowerCut(disk: SimulatedDisk): Promise<RunningStore> {
  disk.cutPower(() => 0);
  heal(disk);
  return startStore(disk);
}

/** A session of one frame for each text, written by a process that is dead now. */
export async function leaveSession(disk: SimulatedDisk, texts: readonly string[], id = ID): Promise<void> {
  const { process, store } = await startStore(disk);
  const journal = await store.create(id);
  for (const [index, text] of texts.entries()) await journal.append(frameOf(index + 1, 1, text));
  disk.kill(process);
}

export function journalPath(id = ID): string {
  return `${ROOT}/sessions/${id}/journal`;
}

export function segmentPath(firstSequence: number, id = ID): string {
  return `${journalPath(id)}/${segmentName(firstSequence)}`;
}

/** Relative to the data directory, as errors and log lines name it. */
export function segmentFile(firstSequence: number, id = ID): string {
  return `sessions/${id}/journal/${segmentName(firstSequence)}`;
}

/** Lets a call fail, the first of a kind that a disk gets from now on, once. */
export function failNext(disk: SimulatedDisk, kind: DiskCallKind, code: string, takes?: number): void {
  let isOver = false;
  disk.plan = (call: DiskCall) => {
    if (isOver || call.kind !== kind) return undefined;
    isOver = true;
    return takes === undefined ? { fails: code } : { fails: code, takes };
  };
}

/** Lets every call of some kinds fail until it is told otherwise. */
export function failAll(disk: SimulatedDisk, kinds: readonly DiskCallKind[], code: string): void {
  disk.plan = ({ kind }) => (kinds.includes(kind) ? { fails: code } : undefined);
}

export function heal(disk: SimulatedDisk): void {
  disk.plan = () => undefined;
}

/** The calls that an action makes, as `kind path`, paths from the data directory on. */
export async function callsOf(disk: SimulatedDisk, action: () => Promise<unknown>): Promise<readonly string[]> {
  const calls: string[] = [];
  disk.plan = ({ kind, path }) => {
    calls.push(`${kind} ${path.replace(`${ROOT}/`, '')}`);
    return undefined;
  };
  await action();
  heal(disk);
  return calls;
}
