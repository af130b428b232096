/** The worker in which a journal is read and folded: however long it is, the page stays free to be looked at. */
import type { SessionRecord } from '../../../machines/records.ts';
import { JournalFold } from '../model/journal-fold.ts';
import { rowOf } from '../model/record-row.ts';
import { sequencesWith } from '../model/record-search.ts';
import { JournalReader, type JournalListener } from './journal-reader.ts';
import { Server } from './server.ts';
import type { FromWorker, ToWorker } from './worker-messages.ts';

class FoldWorker {
  readonly #fold = new JournalFold();
  /** The end of the journal until the fold gets there. */
  #tail: readonly SessionRecord[] = [];

  open({ sessionId, token }: Extract<ToWorker, { kind: 'open' }>): void {
    const listener: JournalListener = {
      onReadOnly: () => say({ kind: 'read_only' }),
      onTail: (records) => {
        this.#tail = records;
        say({ kind: 'rows', rows: records.map(rowOf) });
      },
      onRecords: (records) => {
        this.#fold.add(records);
        const refusal = this.#fold.refusal?.message ?? null;
        say({ kind: 'rows', rows: records.map(rowOf) });
        say({ kind: 'folded', through: this.#fold.length, refusal });
      },
      onDelta: (delta) => say({ kind: 'delta', delta }),
      onConnection: (connection, failure) => say({ kind: 'connection', connection, failure }),
    };
    const reader = new JournalReader(new Server(token), sessionId, listener, new AbortController().signal);
    // What it does not tell itself is a fault of this page, and is better told than waited for.
    reader.run().catch((error: unknown) => say({ kind: 'connection', connection: 'failed', failure: { kind: 'refused', text: `The page cannot go on: ${String(error)}` } }));
  }

  showAt({ sequence, shownMessages }: Extract<ToWorker, { kind: 'at' }>): void {
    const folded = this.#fold.at(sequence, shownMessages);
    const record = this.#fold.recordAt(sequence) ?? this.#tail.find((one) => one.sequence === sequence) ?? null;
    say({ kind: 'moment', sequence, record, folded });
  }

  search(text: string): void {
    say({ kind: 'found', text, sequences: sequencesWith(this.#fold.records(), text) });
  }
}

function say(message: FromWorker): void {
  postMessage(message);
}

const worker = new FoldWorker();
addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  switch (data.kind) {
    case 'open':
      worker.open(data);
      return;
    case 'at':
      worker.showAt(data);
      return;
    case 'search':
      worker.search(data.text);
      return;
  }
});
