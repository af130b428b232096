/**
 * Sessions as they lie on a disk, looked at without a server: of a data directory that nobody runs, or of a session that
 * was copied from one. What a server would do first, it does not do.
 *
 *   K1. Nothing is locked, written, cut or recovered. A turn that a death broke off is shown as it lies there: running.
 *   K2. An incomplete final write is told, and not shown. In front of damage the journal is shown, and where that begins is
 *       told with everything else that is asked of the session.
 *   K3. Whoever may read the files may see every tenant's sessions.
 *   K4. A journal that was not written since is not folded again. One that a living server writes is shown as of each look.
 */
import type { SessionRecord, Sequence } from '../machines/records.ts';
import type { PublicEvent } from '../machines/projections/public-events.ts';
import { SessionState } from '../machines/replay.ts';
import { isErrorCode } from '../storage/disk-failure.ts';
import type { WatchableDisk } from '../storage/disk.ts';
import type { ReadableJournal } from '../storage/journal.ts';
import { journalStamp, unownedJournal } from '../storage/judged-segments.ts';
import { ServiceError } from './errors.ts';
import { assertCursor, eventPage, publicEventsOf, recordPage, recordsOf, shownThrough } from './history.ts';
import { lookAt, type SessionSight } from './session-sight.ts';
import { matches, pageOf, type ListFilter } from './session-list.ts';
import { answering, notFound, serviceError } from './session-refusals.ts';
import type {
  DamagedSessionView,
  Followed,
  Following,
  ListQuery,
  Page,
  PageQuery,
  SessionPage,
  SessionReads,
  SessionView,
} from './session-service.ts';
import type { SegmentsPlace } from './read-segments.ts';
import { viewOf } from './session-views.ts';

export interface FoundSession extends SegmentsPlace {
  readonly sessionId: string;
}

interface KnownSight {
  readonly place: FoundSession;
  /** Of the journal when it was folded. */
  readonly stamp: string;
  readonly sight: Promise<SessionSight>;
}

interface Looked {
  readonly journal: ReadableJournal;
  readonly sight: SessionSight;
}

export class SessionLook implements SessionReads {
  readonly #disk: WatchableDisk;
  readonly #find: () => Promise<readonly FoundSession[]>;
  readonly #sights = new Map<string, KnownSight>();

  /** `find`: the sessions that are there now, ascending by id. */
  constructor(disk: WatchableDisk, find: () => Promise<readonly FoundSession[]>) {
    this.#disk = disk;
    this.#find = find;
  }

  async assertThere(_tenant: string, sessionId: string): Promise<void> {
    await answering(() => this.#found(sessionId));
  }

  async get(_tenant: string, sessionId: string): Promise<SessionView> {
    return answering(async () => {
      const { sight } = await this.#look(sessionId);
      return viewIn(sessionId, sight);
    });
  }

  async list(_tenant: string, { after, limit, session_id: only, ...filter }: ListQuery): Promise<SessionPage> {
    return answering(async () => {
      const found = (await this.#find()).filter(({ sessionId }) => sessionId > after && (only === undefined || sessionId === only));
      return pageOf(found, limit, (place) => this.#listed(place, filter));
    });
  }

  async events(_tenant: string, sessionId: string, query: PageQuery & { readonly types?: readonly string[] }): Promise<Page<PublicEvent>> {
    return answering(async () => eventPage((await this.#look(sessionId)).journal, query));
  }

  async journal(_tenant: string, sessionId: string, query: PageQuery): Promise<Page<SessionRecord>> {
    return answering(async () => recordPage((await this.#look(sessionId)).journal, query));
  }

  async transcript(_tenant: string, sessionId: string): ReturnType<SessionReads['transcript']> {
    return answering(async () => {
      const { journal } = await this.#look(sessionId);
      const state = SessionState.empty();
      for await (const record of recordsOf(journal, 0)) state.apply(record);
      return { messages: state.transcript.messages(), through_sequence: state.lastSequence };
    });
  }

  async followEvents(_tenant: string, sessionId: string, after: Sequence): Promise<Following<PublicEvent>> {
    return this.#follow(sessionId, after, publicEventsOf);
  }

  async followJournal(_tenant: string, sessionId: string, after: Sequence): Promise<Following<SessionRecord>> {
    return this.#follow(sessionId, after, (record) => [record]);
  }

  /** What is there, and then the end: nothing more is to come. */
  async #follow<T>(sessionId: string, after: Sequence, project: (record: SessionRecord) => readonly T[]): Promise<Following<T>> {
    return answering(async () => {
      const { journal } = await this.#look(sessionId);
      assertCursor(journal, after);
      const through = await shownThrough(journal, after, project);
      return { ended: through >= journal.lastSequence, items: itemsOf(journal, after, project) };
    });
  }

  /** Null where it is not asked for, or went away meanwhile. What is wrong with one takes no other off the list. */
  async #listed(place: FoundSession, filter: ListFilter): Promise<SessionView | DamagedSessionView | null> {
    const { sessionId } = place;
    try {
      const { sight } = await this.#lookInto(place);
      if (sight.kind === 'damaged') {
        const { file, offset, what } = sight;
        return { session_id: sessionId, damaged: true, message: `${file} is damaged at byte ${offset}: ${what}` };
      }
      return matches(sight.row, filter) ? viewIn(sessionId, sight) : null;
    } catch (error) {
      const { code, message } = serviceError(error);
      return code === 'not_found' ? null : { session_id: sessionId, damaged: true, message };
    }
  }

  /** A place that is known is not looked for among all others again: whether it is still there shows when it is read. */
  async #found(sessionId: string): Promise<FoundSession> {
    const known = this.#sights.get(sessionId);
    if (known !== undefined) return known.place;
    const found = (await this.#find()).find((place) => place.sessionId === sessionId);
    if (found === undefined) throw notFound();
    return found;
  }

  async #look(sessionId: string): Promise<Looked> {
    return this.#lookInto(await this.#found(sessionId));
  }

  async #lookInto(place: FoundSession): Promise<Looked> {
    const { sessionId, journal } = place;
    try {
      const stamp = await journalStamp(this.#disk, journal);
      const known = this.#sights.get(sessionId);
      const sight = known?.stamp === stamp ? known.sight : lookAt(this.#disk, place);
      this.#sights.set(sessionId, { place, stamp, sight });
      const seen = await sight;
      return { journal: unownedJournal(this.#disk, { directory: journal, sessionId, lastSequence: seen.lastSequence }), sight: seen };
    } catch (error) {
      this.#sights.delete(sessionId);
      if (isErrorCode(error, 'ENOENT')) throw notFound();
      throw new ServiceError('journal_unavailable', 'the files of this session cannot be read now', { cause: error });
    }
  }
}

/** Throws for what is damaged, as a server does. */
function viewIn(sessionId: string, sight: SessionSight): SessionView {
  if (sight.kind === 'damaged') {
    const { file, offset, what } = sight;
    throw new ServiceError('journal_corrupt', `the session's journal is damaged: ${what}`, { details: { file, offset } });
  }
  const view = viewOf(sessionId, sight.row, sight.created, false);
  return sight.explanation === null ? view : { ...view, explanation: sight.explanation };
}

async function* itemsOf<T>(
  journal: ReadableJournal,
  after: Sequence,
  project: (record: SessionRecord) => readonly T[],
): AsyncGenerator<Followed<T>> {
  for await (const record of recordsOf(journal, after)) {
    for (const item of project(record)) yield { kind: 'recorded', item };
  }
}
