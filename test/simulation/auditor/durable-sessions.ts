/**
 * What the device would hold if the power went now, as one ledger for each session. What anybody was shown must stay in it,
 * record for record.
 */
import type { DiskPort } from '../disk-port.ts';
import { readJournal, type JournalReading } from './journal-bytes.ts';
import { SessionLedger } from './session-ledger.ts';
import { expectThat, same } from './violation.ts';

export const DATA = '/data';
const SESSION_PATH = /^\/data\/sessions\/([0-9a-f]{32})\/journal\/\d{16}\.segment$/;

interface Held {
  readonly ledger: SessionLedger;
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly frameCount: number;
}

/** Told of what is on the device, and of what is not any more. */
export interface SessionsWatcher {
  recorded(before: string, type: string, after: string): void;
  removed(sessionId: string, ledger: SessionLedger): void;
}

export class DurableSessions {
  readonly #port: DiskPort;
  readonly #told: SessionsWatcher;
  readonly #held = new Map<string, Held>();
  readonly #shownThrough = new Map<string, number>();
  /** Of which nobody may expect anything any more: they are to be deleted. */
  readonly leaving = new Set<string>();
  readonly deleted = new Set<string>();
  /** Sessions with a damaged journal, by the process that ran when it was damaged: no later one may show them. */
  readonly rotten = new Map<string, number>();
  #version = -1;

  constructor(port: DiskPort, told: SessionsWatcher) {
    this.#port = port;
    this.#told = told;
  }

  get ids(): readonly string[] {
    this.refresh();
    return [...this.#held.keys()].sort();
  }

  ledger(sessionId: string): SessionLedger | null {
    this.refresh();
    return this.#held.get(sessionId)?.ledger ?? null;
  }

  byLabel(label: string | undefined): readonly [string, SessionLedger] | null {
    this.refresh();
    for (const [id, { ledger }] of this.#held) if (ledger.created['system'] === label) return [id, ledger];
    return null;
  }

  /** Somebody was shown a session up to a record: it must be on the device, and stay there. */
  shown(sessionId: string, sequence: number, what: string): void {
    if (this.leaving.has(sessionId) || this.rotten.has(sessionId)) return;
    const last = this.ledger(sessionId)?.last ?? 0;
    expectThat(sequence <= last, 12, () => `${what} tells of record ${sequence}, and the device holds ${last} records`);
    this.#shownThrough.set(sessionId, Math.max(sequence, this.#shownThrough.get(sessionId) ?? 0));
  }

  refresh(): void {
    if (this.#version === this.#port.version) return;
    this.#version = this.#port.version;
    const found = grouped(this.#port.disk.durableFiles(`${DATA}/sessions`));
    for (const [sessionId, files] of found) {
      expectThat(!this.deleted.has(sessionId), 13, () => `session ${sessionId} is back, and its delete was answered`);
      if (!this.rotten.has(sessionId)) this.#read(sessionId, files);
    }
    for (const [sessionId, { ledger }] of this.#held) {
      if (found.has(sessionId)) continue;
      const isExpected = this.leaving.has(sessionId) || !this.#shownThrough.has(sessionId);
      expectThat(isExpected, 1, () => `session ${sessionId} is gone, and nobody asked for that`);
      if (!this.rotten.has(sessionId)) this.#told.removed(sessionId, ledger);
      this.#held.delete(sessionId);
    }
    this.#expectOneOfEachLabel();
  }

  /** What a process that starts now finds of a session. */
  visible(sessionId: string): { readonly ledger: SessionLedger; readonly reading: JournalReading } {
    const paths = this.#port.disk.files(`${DATA}/sessions/${sessionId}/journal`);
    const reading = readJournal(new Map(paths.map((path) => [path, this.#port.disk.contents(path) ?? new Uint8Array()])));
    const ledger = new SessionLedger();
    for (const { records } of reading.frames) for (const record of records) ledger.enter(record);
    return { ledger, reading };
  }

  /** The ids of what a process that starts now finds. */
  visibleIds(): readonly string[] {
    const paths = this.#port.disk.files(`${DATA}/sessions`);
    return [...new Set(paths.flatMap((path) => SESSION_PATH.exec(path)?.[1] ?? []))];
  }

  #read(sessionId: string, files: ReadonlyMap<string, Uint8Array>): void {
    const held = this.#held.get(sessionId);
    if (held !== undefined && isSameFiles(held.files, files)) return;
    const { frames } = readJournal(files);
    if (frames.length === 0 && held === undefined) return;
    const goesOn = held !== undefined && held.frameCount <= frames.length && isPrefix(held, frames);
    const ledger = goesOn ? held.ledger : new SessionLedger();
    for (const { records } of goesOn ? frames.slice(held.frameCount) : frames) {
      for (const record of records) {
        const before = ledger.state;
        ledger.enter(record);
        this.#told.recorded(before, record.type, ledger.state);
      }
      ledger.endOfCommit();
    }
    if (held !== undefined && !goesOn) this.#expectShownKept(sessionId, held.ledger, ledger);
    this.#held.set(sessionId, { ledger, files, frameCount: frames.length });
  }

  #expectShownKept(sessionId: string, before: SessionLedger, after: SessionLedger): void {
    const shown = this.#shownThrough.get(sessionId) ?? 0;
    for (let index = 0; index < shown; index += 1) {
      const isKept = same(before.records[index], after.records[index]);
      expectThat(isKept, 1, () => `record ${index + 1} of ${sessionId} was shown, and is not there any more`);
    }
  }

  #expectOneOfEachLabel(): void {
    const labels = [...this.#held.values()].map(({ ledger }) => ledger.created['system']);
    expectThat(new Set(labels).size === labels.length, 9, () => `one create made two sessions: ${labels.join(', ')}`);
  }
}

function grouped(files: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, ReadonlyMap<string, Uint8Array>> {
  const sessions = new Map<string, Map<string, Uint8Array>>();
  for (const [path, bytes] of files) {
    const sessionId = SESSION_PATH.exec(path)?.[1];
    if (sessionId === undefined) continue;
    const session = sessions.get(sessionId) ?? new Map<string, Uint8Array>();
    session.set(path, bytes);
    sessions.set(sessionId, session);
  }
  return sessions;
}

function isSameFiles(before: ReadonlyMap<string, Uint8Array>, after: ReadonlyMap<string, Uint8Array>): boolean {
  if (before.size !== after.size) return false;
  return [...after].every(([path, bytes]) => {
    const old = before.get(path);
    return old !== undefined && old.length === bytes.length && Buffer.compare(old, bytes) === 0;
  });
}

/** Whether the frames that a ledger was made of are the first of these, record for record. */
function isPrefix(held: Held, frames: JournalReading['frames']): boolean {
  const records = frames.slice(0, held.frameCount).flatMap((frame) => frame.records);
  return records.length === held.ledger.last && records.every((record, index) => same(record, held.ledger.records[index]));
}
