/**
 * One session as the page has it: the lines of its journal, and the moment that is looked at. The work is the worker's;
 * here is what it has said so far.
 */
import type { Sequence, SessionRecord } from '../../../machines/records.ts';
import type { Failure } from '../model/failure.ts';
import type { MomentWithChanges } from '../model/journal-fold.ts';
import { SHOWN_MESSAGES } from '../model/moment.ts';
import type { RecordRow } from '../model/record-row.ts';
import { LiveView } from './live-view.ts';
import type { Connection, FromWorker, ToWorker } from './worker-messages.ts';

export interface FeedView {
  /** By sequence, from 1 at the first place; undefined where a record is not here yet. Changed in place: `version` tells. */
  readonly rows: readonly (RecordRow | undefined)[];
  readonly version: number;
  readonly foldedThrough: Sequence;
  /** Why the fold went no further; null while it did. */
  readonly refusal: string | null;
  readonly connection: Connection;
  /** Whether nothing can be changed where the session is. */
  readonly isReadOnly: boolean;
  readonly failure: Failure | null;
  readonly shown: Shown | null;
  /** What the running model call has written so far. */
  readonly writing: { readonly started_sequence: Sequence; readonly text: string } | null;
  readonly found: { readonly text: string; readonly sequences: readonly Sequence[] } | null;
}

export interface Shown {
  readonly sequence: Sequence;
  readonly record: SessionRecord | null;
  /** Null where the fold has not come so far. */
  readonly folded: MomentWithChanges | null;
}

interface Wanted {
  readonly sequence: Sequence;
  readonly shownMessages: number;
  readonly foldedThrough: Sequence;
}

/** What there is before anything was said. */
export const UNREAD_FEED: FeedView = {
  rows: [],
  version: 0,
  foldedThrough: 0,
  refusal: null,
  connection: 'loading',
  isReadOnly: false,
  failure: null,
  shown: null,
  writing: null,
  found: null,
};

export class SessionFeed extends LiveView<FeedView> {
  readonly #worker: Worker;
  readonly #rows: (RecordRow | undefined)[];
  /** Null follows the last record. */
  #at: Sequence | null = null;
  #shownMessages = SHOWN_MESSAGES;
  /** What the worker was asked for last, and whether it has answered. */
  #asked: Wanted | null = null;
  #isAnswered = true;

  constructor(sessionId: string, token: string | null) {
    const rows: (RecordRow | undefined)[] = [];
    super({ ...UNREAD_FEED, rows });
    this.#rows = rows;
    this.#worker = new Worker(new URL('./fold-worker.ts', import.meta.url), { type: 'module' });
    this.#worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => this.#hear(data));
    this.#worker.addEventListener('error', () => this.#fail('The fold of this session stopped by a fault of the page. Load it again.'));
    this.#say({ kind: 'open', sessionId, token });
  }

  /** Looks at the session right after a record; null follows the last one. */
  lookAt(at: Sequence | null): void {
    this.#at = at;
    this.#ask();
  }

  /** Shows so many of the last messages of the transcript. */
  showMessages(count: number): void {
    this.#shownMessages = count;
    this.#ask();
  }

  search(text: string): void {
    if (text === '') this.change({ found: null });
    else this.#say({ kind: 'search', text });
  }

  override close(): void {
    super.close();
    this.#worker.terminate();
  }

  #hear(message: FromWorker): void {
    switch (message.kind) {
      case 'read_only':
        this.change({ isReadOnly: true });
        break;
      case 'rows':
        for (const row of message.rows) this.#rows[row.sequence - 1] = row;
        this.change({ version: this.view().version + 1, ...(this.#isWritten(message.rows) ? { writing: null } : {}) });
        break;
      case 'folded':
        this.change({ foldedThrough: message.through, refusal: message.refusal });
        break;
      case 'connection':
        this.change({ connection: message.connection, failure: message.failure });
        break;
      case 'delta': {
        const { started_sequence, text } = message.delta;
        const { writing } = this.view();
        const before = writing?.started_sequence === started_sequence ? writing.text : '';
        this.change({ writing: { started_sequence, text: before + text } });
        break;
      }
      case 'moment': {
        this.#isAnswered = true;
        const { sequence, record, folded } = message;
        this.change({ shown: { sequence, record, folded } });
        break;
      }
      case 'found':
        this.change({ found: { text: message.text, sequences: message.sequences } });
        break;
    }
    this.#ask();
  }

  /** One question at a time: whoever drags the slider wants the last moment, not each on the way. */
  #ask(): void {
    const sequence = Math.min(this.#at ?? this.#rows.length, this.#rows.length);
    if (!this.#isAnswered || sequence < 1) return;
    const { foldedThrough } = this.view();
    const asked = this.#asked;
    const isSame = asked?.sequence === sequence && asked.shownMessages === this.#shownMessages;
    // What was not folded when it was asked for is asked for again when it is.
    const isComplete = this.view().shown?.folded !== null || foldedThrough < sequence || asked?.foldedThrough === foldedThrough;
    if (isSame && isComplete) return;
    this.#asked = { sequence, shownMessages: this.#shownMessages, foldedThrough };
    this.#isAnswered = false;
    this.#say({ kind: 'at', sequence, shownMessages: this.#shownMessages });
  }

  #isWritten(rows: readonly RecordRow[]): boolean {
    return rows.some(({ ends }) => ends !== null && ends === this.view().writing?.started_sequence);
  }

  #fail(text: string): void {
    this.change({ connection: 'failed', failure: { kind: 'refused', text } });
  }

  #say(message: ToWorker): void {
    this.#worker.postMessage(message);
  }
}
