/**
 * The application API over the registry: it finds the session for its tenant, asks, and puts answers together. What may
 * happen to a session is not decided here.
 */
import type { Command } from '../machines/commands.ts';
import type { UserInput } from '../machines/messages.ts';
import { textOf } from '../machines/messages.ts';
import { publicEventOf, type PublicEvent } from '../machines/projections/public-events.ts';
import { STATUS_OF_STATE, type ChartState, type SessionStatus } from '../machines/projections/status.ts';
import type { Sequence, SessionCreated, SessionRecord } from '../machines/records.ts';
import type { Journal } from '../storage/journal.ts';
import type { AdmittedWork } from './admitted-work.ts';
import type { Catalog, CatalogRow } from './catalog.ts';
import { resolveCreation, type CreateServices } from './create-session.ts';
import { ServiceError } from './errors.ts';
import type { EventFeed, FollowedJournal } from './event-feed.ts';
import { assertCursor, creationOf, eventPage, recordPage, someRecords } from './history.ts';
import { accepted, serviceError } from './session-refusals.ts';
import type { SessionIds } from './session-ids.ts';
import type { SessionRegistry } from './session-registry.ts';
import type {
  CreateSession,
  DamagedSessionView,
  Followed,
  Following,
  Page,
  PageQuery,
  SessionService,
  SessionView,
  TurnAnswer,
  TurnReceipt,
} from './session-service.ts';

/** The tenant of whoever runs the server. */
const OPERATOR_TENANT = 'local';

export interface SessionsParts {
  readonly registry: SessionRegistry;
  readonly catalog: Catalog;
  readonly feed: EventFeed;
  readonly ids: SessionIds;
  readonly creation: CreateServices;
  readonly work: AdmittedWork;
  isDraining(): boolean;
}

export class Sessions implements SessionService {
  readonly #parts: SessionsParts;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
  }

  async create(tenant: string, request: CreateSession): Promise<SessionView> {
    return answering(async () => {
      this.#admit();
      const created = resolveCreation(tenant, request, this.#parts.creation);
      const sessionId = this.#parts.ids.next();
      const { registry, work } = this.#parts;
      const transcript = request.transcript ?? [];
      accepted(await work.run(() => registry.create(sessionId, { kind: 'create', created, transcript })));
      return this.#viewOf(sessionId, await this.#rowOf(tenant, sessionId), created);
    });
  }

  async get(tenant: string, sessionId: string): Promise<SessionView> {
    return answering(async () => this.#view(tenant, sessionId));
  }

  async list(
    tenant: string,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<{ readonly sessions: readonly (SessionView | DamagedSessionView)[]; readonly next_cursor: string | null }> {
    return answering(async () => {
      const sessions: (SessionView | DamagedSessionView)[] = [];
      let last = after;
      for (const sessionId of this.#parts.catalog.idsAfter(after)) {
        const listed = await this.#listed(tenant, sessionId);
        if (listed === null) continue;
        // Only a session that this tenant has makes another page: there is nothing to learn from anybody else's.
        if (sessions.length === limit) return { sessions, next_cursor: last };
        sessions.push(listed);
        last = sessionId;
      }
      return { sessions, next_cursor: null };
    });
  }

  async send(tenant: string, sessionId: string, input: UserInput): Promise<TurnAnswer> {
    return answering(async () => {
      this.#admit();
      const { sequence } = await this.#start(tenant, sessionId, { kind: 'send', input, mode: 'sync' });
      return this.#turnAnswer(sessionId, sequence);
    });
  }

  async submit(tenant: string, sessionId: string, input: UserInput): Promise<TurnReceipt> {
    return answering(async () => {
      this.#admit();
      return this.#start(tenant, sessionId, { kind: 'send', input, mode: 'async' });
    });
  }

  async cancel(tenant: string, sessionId: string): Promise<void> {
    return answering(async () => {
      await this.#command(tenant, sessionId, { kind: 'cancel', by: 'caller' });
    });
  }

  async resume(tenant: string, sessionId: string): Promise<SessionView> {
    return answering(async () => {
      await this.#rowOf(tenant, sessionId);
      this.#admit();
      await this.#command(tenant, sessionId, { kind: 'resume' });
      return this.#view(tenant, sessionId);
    });
  }

  async end(tenant: string, sessionId: string): Promise<SessionView> {
    return answering(async () => {
      await this.#command(tenant, sessionId, { kind: 'end', mode: 'wait' });
      await this.#untilEnded(sessionId);
      return this.#view(tenant, sessionId);
    });
  }

  async delete(tenant: string, sessionId: string): Promise<void> {
    return answering(async () => {
      await this.#parts.work.run(async () => {
        await this.#rowOf(tenant, sessionId);
        accepted(await this.#parts.registry.delete(sessionId));
      });
    });
  }

  async events(
    tenant: string,
    sessionId: string,
    query: PageQuery & { readonly types?: readonly string[] },
  ): Promise<Page<PublicEvent>> {
    return answering(async () => this.#read(tenant, sessionId, (journal) => eventPage(journal, query)));
  }

  async journal(tenant: string, sessionId: string, query: PageQuery): Promise<Page<SessionRecord>> {
    return answering(async () => this.#read(tenant, sessionId, (journal) => recordPage(journal, query)));
  }

  async transcript(tenant: string, sessionId: string): ReturnType<SessionService['transcript']> {
    return answering(async () => {
      await this.#rowOf(tenant, sessionId);
      return this.#parts.registry.readState(sessionId, (state) => ({
        messages: state.transcript.messages(),
        through_sequence: state.lastSequence,
      }));
    });
  }

  async followEvents(tenant: string, sessionId: string, after: Sequence, signal: AbortSignal): Promise<Following<PublicEvent>> {
    return this.#follow(tenant, sessionId, after, signal, publicEventOf);
  }

  async followJournal(tenant: string, sessionId: string, after: Sequence, signal: AbortSignal): Promise<Following<SessionRecord>> {
    return this.#follow(tenant, sessionId, after, signal, (record) => record);
  }

  #admit(): void {
    if (this.#parts.isDraining()) throw new ServiceError('draining', 'the server is shutting down and takes no new work');
  }

  /** The tenant's session. It is looked at first where nobody has since the start: reading it recovers it. */
  async #rowOf(tenant: string, sessionId: string): Promise<CatalogRow> {
    const { catalog } = this.#parts;
    if (!catalog.has(sessionId)) throw notFound();
    if (catalog.row(sessionId) === null) await this.#settle(tenant, sessionId);
    const row = catalog.row(sessionId);
    if (row?.tenant !== tenant) throw notFound();
    return row;
  }

  /** Whose session it is stands in its journal: one that is refused is the operator's to hear of, and nobody else's. */
  async #settle(tenant: string, sessionId: string): Promise<void> {
    try {
      await this.#parts.registry.settle(sessionId);
    } catch (error) {
      throw tenant === OPERATOR_TENANT ? error : notFound();
    }
  }

  async #read<T>(tenant: string, sessionId: string, work: (journal: Journal) => Promise<T>): Promise<T> {
    await this.#rowOf(tenant, sessionId);
    return this.#parts.registry.read(sessionId, work);
  }

  async #command(tenant: string, sessionId: string, command: Command): Promise<readonly SessionRecord[]> {
    return this.#parts.work.run(async () => {
      await this.#rowOf(tenant, sessionId);
      return accepted(await this.#parts.registry.command(sessionId, command));
    });
  }

  async #start(tenant: string, sessionId: string, command: Command): Promise<TurnReceipt> {
    const records = await this.#command(tenant, sessionId, command);
    const started = records.find(({ type }) => type === 'turn_started');
    if (started === undefined) throw new Error('an accepted message starts its turn, or is queued');
    return { session_id: sessionId, sequence: started.sequence };
  }

  async #view(tenant: string, sessionId: string): Promise<SessionView> {
    const row = await this.#rowOf(tenant, sessionId);
    const { data } = await this.#parts.registry.read(sessionId, creationOf);
    // The read took its time: what is told is as of now.
    return this.#viewOf(sessionId, this.#parts.catalog.row(sessionId) ?? row, data);
  }

  #viewOf(sessionId: string, row: CatalogRow, created: SessionCreated): SessionView {
    return {
      session_id: sessionId,
      status: statusOf(row.state),
      resident: this.#parts.registry.isResident(sessionId),
      last_sequence: row.last_sequence,
      created_at: row.created_at,
      updated_at: row.updated_at,
      agentloop: { name: created.agentloop, configuration: created.configuration },
      model: created.model,
      ...(created.system === undefined ? {} : { system: created.system }),
      tools: created.tools,
      environments: created.environments,
      after_stop: created.after_stop,
      retain: created.retain,
      metadata: row.metadata,
    };
  }

  /** Null where it is not this tenant's, or was deleted meanwhile. A refused journal takes no other session down. */
  async #listed(tenant: string, sessionId: string): Promise<SessionView | DamagedSessionView | null> {
    try {
      return await this.#view(tenant, sessionId);
    } catch (error) {
      const answer = serviceError(error);
      if (answer.code === 'not_found') return null;
      if (answer.code === 'journal_corrupt') return { session_id: sessionId, damaged: true, message: answer.message };
      throw answer;
    }
  }

  async #follow<T>(
    tenant: string,
    sessionId: string,
    after: Sequence,
    signal: AbortSignal,
    project: (record: SessionRecord) => T | null,
  ): Promise<Following<T>> {
    return answering(async () => {
      const last = await this.#read(tenant, sessionId, (journal) => {
        assertCursor(journal, after);
        return Promise.resolve(journal.lastSequence);
      });
      const row = this.#parts.catalog.row(sessionId);
      const ended = row?.state === 'ended' && after >= last;
      return { ended, items: this.#projected(sessionId, after, signal, project) };
    });
  }

  async *#projected<T>(
    sessionId: string,
    after: Sequence,
    signal: AbortSignal,
    project: (record: SessionRecord) => T | null,
  ): AsyncGenerator<Followed<T>> {
    try {
      for await (const followed of this.#records(sessionId, after, signal)) {
        if (followed.kind === 'live') {
          yield followed;
          continue;
        }
        const item = project(followed.item);
        if (item !== null) yield { kind: 'recorded', item };
      }
    } catch (error) {
      throw serviceError(error);
    }
  }

  #records(sessionId: string, after: Sequence, signal: AbortSignal): AsyncGenerator<Followed<SessionRecord>> {
    const { catalog, feed, registry } = this.#parts;
    const journal: FollowedJournal = {
      readSome: (cursor) => registry.read(sessionId, (opened) => someRecords(opened, cursor)),
      isOver: () => catalog.row(sessionId)?.state === 'ended',
    };
    return feed.follow(sessionId, after, journal, signal);
  }

  /** The turn's answer, from its own records: the caller follows them like anybody else. */
  async #turnAnswer(sessionId: string, sequence: Sequence): Promise<TurnAnswer> {
    const ended = new Map<Sequence, SessionRecord<'model_call_ended'>>();
    let messageSequence: Sequence | null = null;
    let result: TurnAnswer['result'];
    for await (const followed of this.#records(sessionId, sequence - 1, neverAborted())) {
      if (followed.kind === 'live') continue;
      const record = followed.item;
      if (record.type === 'turn_started') messageSequence ??= record.data.message_sequence;
      if (record.type === 'model_call_ended') ended.set(record.sequence, record);
      if (record.type === 'activation_ended' && record.data.result !== undefined && 'sequence' in record.data.result) {
        result = resultOf(ended.get(record.data.result.sequence));
      }
      if ((record.type !== 'turn_ended' && record.type !== 'turn_failed') || record.data.message_sequence !== messageSequence) continue;
      const common = { session_id: sessionId, sequence, status: statusAfter(record), last_sequence: record.sequence };
      if (record.type === 'turn_failed') {
        return { ...common, outcome: 'failed', error: { code: record.data.code, message: record.data.message } };
      }
      return { ...common, outcome: 'ended', ...(result === undefined ? {} : { result }) };
    }
    if (this.#parts.isDraining()) throw new ServiceError('draining', 'the server was shut down before the turn was over');
    throw notFound();
  }

  async #untilEnded(sessionId: string): Promise<void> {
    const row = this.#parts.catalog.row(sessionId);
    if (row?.state === 'ended') return;
    for await (const followed of this.#records(sessionId, row?.last_sequence ?? 0, neverAborted())) {
      if (followed.kind === 'recorded' && followed.item.type === 'session_ended') return;
    }
  }
}

async function answering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw serviceError(error);
  }
}

function resultOf(record: SessionRecord<'model_call_ended'> | undefined): TurnAnswer['result'] {
  if (record === undefined) return undefined;
  const { message, finish_reason, usage } = record.data;
  return { text: textOf(message), message, finish_reason, ...(usage === undefined ? {} : { usage }) };
}

/** A turn's answer is waited for however long it takes: its bounds are the turn's own. */
function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

/** What the session is once a turn's last record stands: what follows is in the same commit, and the record says so. */
function statusAfter(record: SessionRecord<'turn_ended' | 'turn_failed'>): SessionStatus {
  if (record.data.end) return 'ending';
  if (record.type === 'turn_ended' && record.data.next !== null) return 'running';
  return statusOf(record.state as ChartState);
}

function statusOf(state: ChartState): SessionStatus {
  if (state === 'none') throw new Error('there is no session before its first record');
  return STATUS_OF_STATE[state];
}

function notFound(): ServiceError {
  return new ServiceError('not_found', 'there is no such session');
}
