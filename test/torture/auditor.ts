/**
 * Looks at a server from outside, right after it was started again and before any client goes on, and compares what it
 * finds with what the clients were told, the followers were shown, and the model and the tools were asked.
 */
import { isDeepStrictEqual } from 'node:util';
import { inParallel } from '../../bench/in-parallel.ts';
import type { BrainApi, JournalRecord, RecordedEvent, Session } from '../support/brain-api.ts';
import { faultsOf } from '../support/history.ts';
import { SseReader } from '../support/sse-reader.ts';
import type { Follower } from './follower.ts';
import type { Ledger, SessionEntry } from './ledger.ts';
import { faultsOfPromises } from './promises.ts';

const PRIVATE_TYPES = ['session_suspended', 'transcript_delta', 'kv_put', 'kv_deleted', 'request_answered'];
const STOPPED = ['interrupted', 'failed'];
const AT_REST = ['idle', 'interrupted', 'failed', 'ended'];

export class Auditor {
  readonly #ledger: Ledger;
  recordsRead = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** `isLast`: looks at every session, not only at those that something was asked of since the last time. */
  async audit(api: BrainApi, isLast: boolean): Promise<void> {
    const listed = await this.#list(api);
    const known = [...this.#ledger.sessions.values()];
    this.#checkList(listed, known);
    const due = known.filter(({ isTouched }) => isTouched || isLast);
    await inParallel(due, 6, async (session) => {
      await this.#auditSession(api, session, listed.has(session.id));
      session.isTouched = false;
    });
    const over = known.filter(({ isClosed, isRetired }) => !isClosed && (isRetired || isLast));
    await inParallel(over, 6, async (session) => this.#closeSession(api, session));
  }

  async #list(api: BrainApi): Promise<ReadonlyMap<string, Session>> {
    const listed = new Map<string, Session>();
    for (let after: string | null = ''; after !== null; ) {
      const page = await api.sessions(`?limit=1000${after === '' ? '' : `&after=${after}`}`);
      for (const session of page.sessions) listed.set(session.session_id, session);
      after = page.next_cursor;
    }
    return listed;
  }

  #checkList(listed: ReadonlyMap<string, Session>, known: readonly SessionEntry[]): void {
    for (const { session_id, status } of listed.values()) {
      if (!AT_REST.includes(status)) this.#ledger.fault(`${session_id} is ${status} after a restart`);
    }
    for (const { id, deletion } of known) {
      if (deletion === 'none' && !listed.has(id)) this.#ledger.fault(`${id} was acknowledged and is not listed`);
      if (deletion === 'acknowledged' && listed.has(id)) this.#ledger.fault(`${id} was deleted and is listed`);
    }
    const tags = [...listed.values()].map((session) => (session as Session & { metadata: { tag: string } }).metadata.tag);
    for (const tag of tags.filter((tag, index) => tags.indexOf(tag) !== index)) this.#ledger.fault(`the create of ${tag} was executed twice`);
    for (const tag of tags) {
      if (!this.#ledger.sessions.has(tag) && !this.#ledger.uncertainCreates.has(tag)) this.#ledger.fault(`nobody asked for ${tag}`);
    }
  }

  async #auditSession(api: BrainApi, session: SessionEntry, isListed: boolean): Promise<void> {
    const fault = (what: string): void => this.#ledger.fault(`${session.id} (${session.tag}): ${what}`);
    if (!isListed) {
      const { status } = await api.request('GET', `/v1/sessions/${session.id}`);
      if (status !== 404) fault(`is not listed and answers ${status}`);
      session.isRetired = true;
      return;
    }
    const view = (await api.session(session.id)) as Session & { readonly explanation?: string };
    if (STOPPED.includes(view.status) && (view.explanation ?? '') === '') fault(`is ${view.status} and does not say why`);
    const records = await api.journal(session.id);
    this.recordsRead += records.length;
    for (const what of faultsOf(records)) fault(what);
    const firstChanged = session.records.findIndex((record, index) => !isDeepStrictEqual(record, records[index]));
    if (firstChanged !== -1) fault(`record ${firstChanged + 1} was ${JSON.stringify(session.records[firstChanged])} and is ${JSON.stringify(records[firstChanged])}`);
    session.records = records;
    for (const what of faultsOfPromises(session, records)) fault(what);
    for (const follower of session.followers) for (const what of unrecordedIn(follower, records)) fault(what);
  }

  /** Followers have seen all of it, which pages and a replay show as well. Its journal is not at work: it was just recovered. */
  async #closeSession(api: BrainApi, session: SessionEntry): Promise<void> {
    const fault = (what: string): void => this.#ledger.fault(`${session.id} (${session.tag}): ${what}`);
    session.isClosed = true;
    if ((await api.request('GET', `/v1/sessions/${session.id}`)).status === 404) {
      for (const follower of session.followers) await follower.stop();
      return;
    }
    const pages = await api.events(session.id, 50);
    const hidden = session.records.filter(({ type, sequence }) => !PRIVATE_TYPES.includes(type) && !pages.some((event) => event.sequence === sequence));
    for (const { type, sequence } of hidden) fault(`${type} ${sequence} is on no page`);
    const last = pages.at(-1)?.sequence ?? 0;
    const replay = await replayOf(api, session.id, last);
    if (!isDeepStrictEqual(replay, pages)) fault(`a replay shows ${replay.length} events, pages show ${pages.length}`);
    for (const follower of session.followers) {
      const due = follower.end === 'over' ? withoutLateDeletes(pages) : pages;
      await follower.reach(due.at(-1)?.sequence ?? 0);
      await follower.stop();
      for (const what of follower.faults) fault(`a follower: ${what}`);
      const isWhole = isDeepStrictEqual(follower.seen, pages.slice(0, Math.max(due.length, follower.seen.length)));
      if (!isWhole) fault(`a follower saw ${inWords(follower.seen)}; pages show ${inWords(pages)}`);
    }
  }
}

/**
 * Whoever came back at the end of a session was told that it is over. Each delete that was asked for afterwards, and died
 * before the removal, leaves more events, which nobody waits for: what was asked, and what was torn down.
 */
function withoutLateDeletes(pages: readonly RecordedEvent[]): readonly RecordedEvent[] {
  const last = pages.findLastIndex(({ type }) => type !== 'session_delete_requested' && !type.startsWith('environment_teardown'));
  return pages[last]?.type === 'session_ended' ? pages.slice(0, last + 1) : pages;
}

function inWords(events: readonly RecordedEvent[]): string {
  return events.map(({ sequence, type }) => `${sequence} ${type}`).join(', ');
}

async function replayOf(api: BrainApi, id: string, last: number): Promise<readonly unknown[]> {
  const reader = await SseReader.open(`${api.url}/v1/sessions/${id}/events?after=0`);
  await reader.next((frame) => frame.id === String(last), `event ${last} of ${id} in a replay`);
  reader.close();
  return reader.recorded;
}

function unrecordedIn({ seen }: Follower, records: readonly JournalRecord[]): readonly string[] {
  return seen.filter((event) => !isThere(event, records[event.sequence - 1])).map((event) => `a follower was shown ${JSON.stringify(event)}, which is not in the journal`);
}

function isThere({ sequence, recorded_at, type, data }: RecordedEvent, record: JournalRecord | undefined): boolean {
  if (record === undefined || record.sequence !== sequence || record.recorded_at !== recorded_at) return false;
  // Some types are shown in words of their own.
  return record.type !== type || isDeepStrictEqual(record.data, data);
}
