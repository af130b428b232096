/**
 * Reads a session's journal whole and follows it: first its end, since that is what one sees first, then all of it from
 * the start, then what is recorded from now on. When the server is gone it tries again, and goes on where it was.
 */
import type { Sequence, SessionRecord } from '../../../machines/records.ts';
import { mayPass, type Failure } from '../model/failure.ts';
import { backoffMs } from './backoff.ts';
import { after, wait } from './clock.ts';
import { ServerFailure, type Server } from './server.ts';
import type { JournalPage, ListedSession, ModelDelta } from './wire.ts';
import type { Connection } from './worker-messages.ts';

const PAGE_RECORDS = 1000;
/** As many as a screen shows, and some to look back. */
const FIRST_VIEW_RECORDS = 200;
// Records that come one by one are handed on together: a turn can have many in a moment.
const GATHER_MS = 25;

export interface JournalListener {
  /** Nothing can be changed where the journal is read. Told once, before anything else. */
  onReadOnly(): void;
  /** The end of the journal, before what leads to it. */
  onTail(records: readonly SessionRecord[]): void;
  /** The next records, without a gap. */
  onRecords(records: readonly SessionRecord[]): void;
  onDelta(delta: ModelDelta): void;
  onConnection(connection: Connection, failure: Failure | null): void;
}

export class JournalReader {
  readonly #server: Server;
  readonly #path: string;
  readonly #listener: JournalListener;
  readonly #signal: AbortSignal;
  #through: Sequence = 0;
  /** Since it was live last. */
  #failures = 0;
  /** Streams that ended since one brought something last. */
  #emptyStreams = 0;

  constructor(server: Server, sessionId: string, listener: JournalListener, signal: AbortSignal) {
    this.#server = server;
    this.#path = `/v1/sessions/${encodeURIComponent(sessionId)}`;
    this.#listener = listener;
    this.#signal = signal;
  }

  /** Resolves when nothing more will come: the session is over, the signal aborted, or trying again would not help. */
  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        const isOver = await this.#readOn();
        if (isOver) {
          this.#listener.onConnection('over', null);
          return;
        }
        // A stream that ends by itself is a server that stops, or a session that was taken away: the next try tells. One that
        // ends each time, as something in between can make it, is asked for less and less.
        await wait(backoffMs(this.#emptyStreams), this.#signal);
        this.#emptyStreams += 1;
      } catch (error) {
        if (this.#signal.aborted) return;
        if (!(error instanceof ServerFailure)) throw error;
        this.#listener.onConnection('failed', error.failure);
        if (!mayPass(error.failure)) return;
        await wait(backoffMs(this.#failures), this.#signal);
        this.#failures += 1;
      }
    }
  }

  /** Answers whether nothing more will come. */
  async #readOn(): Promise<boolean> {
    const damage = this.#through === 0 ? await this.#readTail() : null;
    // A server refuses these too. A look without one shows what stands before the damage.
    await this.#readPages();
    if (damage !== null) throw damage;
    const events = await this.#server.follow(`${this.#path}/journal?after=${this.#through}`, this.#signal);
    if (events === null) return true;
    this.#failures = 0;
    this.#listener.onConnection('live', null);
    const gathered = new Gathered((records) => this.#take(records));
    try {
      for await (const { type, data } of events) {
        this.#emptyStreams = 0;
        if (type === 'model_delta') this.#listener.onDelta(data as ModelDelta);
        else if (isRecord(data)) gathered.add(data);
      }
    } finally {
      gathered.handOn();
    }
    return false;
  }

  /** Null, or why there is no end to read. */
  async #readTail(): Promise<ServerFailure | null> {
    try {
      const { last_sequence } = await this.#server.get<ListedSession>(this.#path, this.#signal);
      const after = last_sequence - FIRST_VIEW_RECORDS;
      // What comes with the first page of all does not have to come before it.
      if (after > PAGE_RECORDS) this.#listener.onTail((await this.#page(after, FIRST_VIEW_RECORDS)).records);
      return null;
    } catch (error) {
      if (error instanceof ServerFailure && error.failure.kind === 'damaged') return error;
      throw error;
    } finally {
      if (this.#server.isReadOnly) this.#listener.onReadOnly();
    }
  }

  async #readPages(): Promise<void> {
    for (;;) {
      const { records, next_cursor } = await this.#page(this.#through, PAGE_RECORDS);
      this.#take(records);
      if (next_cursor === this.#through && records.length === 0) return;
      if (records.length === 0) this.#through = next_cursor;
    }
  }

  async #page(after: Sequence, limit: number): Promise<JournalPage> {
    return this.#server.get<JournalPage>(`${this.#path}/journal?after=${after}&limit=${limit}`, this.#signal);
  }

  #take(records: readonly SessionRecord[]): void {
    const last = records.at(-1);
    if (last === undefined) return;
    this.#through = last.sequence;
    this.#listener.onRecords(records);
  }
}

/** Records that came one by one, handed on a few at a time. */
class Gathered {
  readonly #handOn: (records: readonly SessionRecord[]) => void;
  #records: SessionRecord[] = [];

  constructor(handOn: (records: readonly SessionRecord[]) => void) {
    this.#handOn = handOn;
  }

  add(record: SessionRecord): void {
    this.#records.push(record);
    if (this.#records.length === 1) after(GATHER_MS, () => this.handOn());
  }

  handOn(): void {
    const records = this.#records;
    this.#records = [];
    if (records.length > 0) this.#handOn(records);
  }
}

/** What has a sequence is recorded; everything else only passes by. */
function isRecord(data: unknown): data is SessionRecord {
  return typeof data === 'object' && data !== null && 'sequence' in data && 'state' in data;
}
