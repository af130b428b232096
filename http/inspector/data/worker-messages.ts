/** What the page and its fold worker say to one another. */
import type { Sequence, SessionRecord } from '../../../machines/records.ts';
import type { Failure } from '../model/failure.ts';
import type { MomentWithChanges } from '../model/journal-fold.ts';
import type { RecordRow } from '../model/record-row.ts';
import type { ModelDelta } from './wire.ts';

export type ToWorker =
  | { readonly kind: 'open'; readonly sessionId: string; readonly token: string | null }
  /** Asks for a `moment`. */
  | { readonly kind: 'at'; readonly sequence: Sequence; readonly shownMessages: number }
  /** Asks for what is `found`. */
  | { readonly kind: 'search'; readonly text: string };

/** `loading`: the journal comes in. `live`: all of it is here, and what comes is followed. `over`: nothing more will come. */
export type Connection = 'loading' | 'live' | 'over' | 'failed';

export type FromWorker =
  /** Nothing can be changed where the session is. */
  | { readonly kind: 'read_only' }
  /** Ascending, but not from the start: the end of a journal comes first. */
  | { readonly kind: 'rows'; readonly rows: readonly RecordRow[] }
  | { readonly kind: 'folded'; readonly through: Sequence; readonly refusal: string | null }
  | { readonly kind: 'connection'; readonly connection: Connection; readonly failure: Failure | null }
  | { readonly kind: 'delta'; readonly delta: ModelDelta }
  | { readonly kind: 'moment'; readonly sequence: Sequence; readonly record: SessionRecord | null; readonly folded: MomentWithChanges | null }
  | { readonly kind: 'found'; readonly text: string; readonly sequences: readonly Sequence[] };
