/**
 * The application API over the registry: it finds the session for its tenant, asks, and puts answers together. What may
 * happen to a session is not decided here.
 */
import type { SessionCommand } from '../machines/commands.ts';
import type { UserInput } from '../machines/messages.ts';
import type { FirstRequest } from '../machines/projections/keyed-requests.ts';
import {
  lifecycleEventsAfter,
  type LifecycleCursor,
  type LifecycleEvent,
} from '../machines/projections/lifecycle-events.ts';
import type { PublicEvent } from '../machines/projections/public-events.ts';
import type { Sequence, SessionRecord } from '../machines/records.ts';
import type { Journal } from '../storage/journal.ts';
import type { AdmittedWork } from './admitted-work.ts';
import type { Catalog } from './catalog.ts';
import { resolveCreation, seedOf, type CreateServices } from './create-session.ts';
import { creationAnswer } from './creation-answers.ts';
import type { Declarations } from './environments/declarations.ts';
import { ServiceError } from './errors.ts';
import type { EventFeed } from './event-feed.ts';
import { explain } from './explanations.ts';
import { eventPage, lifecyclePage, publicEventsOf, recordPage } from './history.ts';
import type { KeyedCall, KeyedRoute, RouteAnswers } from './keyed-call.ts';
import { onceEach } from './once-each.ts';
import type { Clock } from './ports.ts';
import { messageKnown, queueMessage, waitingMessages, withdrawMessage } from './queued-messages.ts';
import { answerAgain } from './repeats.ts';
import type { UnrecordedRequests } from './unrecorded-requests.ts';
import { SessionFollowing } from './session-following.ts';
import { sessionPage } from './session-list.ts';
import { accepted, answering } from './session-refusals.ts';
import type { SessionCredentials } from './session-credentials.ts';
import type { SessionIds } from './session-ids.ts';
import type { SessionRegistry } from './session-registry.ts';
import { TenantSessions } from './tenant-sessions.ts';
import type {
  CreateSession,
  Following,
  ListQuery,
  MetadataChanges,
  Page,
  PageQuery,
  QueuedMessage,
  SessionPage,
  SessionService,
  SessionView,
  TurnAnswer,
  TurnReceipt,
  WaitingMessage,
} from './session-service.ts';

export interface SessionsParts {
  readonly registry: SessionRegistry;
  readonly catalog: Catalog;
  readonly feed: EventFeed;
  readonly ids: SessionIds;
  readonly creation: CreateServices;
  readonly declarations: Pick<Declarations, 'resolve'>;
  readonly sessionCredentials: SessionCredentials;
  readonly work: AdmittedWork;
  readonly unrecorded: UnrecordedRequests;
  readonly clock: Clock;
  isDraining(): boolean;
}

export class Sessions implements SessionService {
  readonly #parts: SessionsParts;
  readonly #sessions: TenantSessions;
  readonly #following: SessionFollowing;
  /** All who follow a session as it goes on are shown the same. */
  readonly #publicEventsOf = onceEach(publicEventsOf);

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#sessions = new TenantSessions(parts);
    this.#following = new SessionFollowing(parts);
  }

  async create(tenant: string, request: CreateSession, keyed?: KeyedCall): Promise<SessionView> {
    return answering(async () => {
      this.#admit();
      const { creation, declarations, ids, registry, sessionCredentials, unrecorded, work } = this.#parts;
      return work.run(async () => {
        const declared = await declarations.resolve(tenant, request.environments ?? []);
        const created = resolveCreation(tenant, request, { ...creation, declared });
        const sessionId = ids.next();
        const transcript = seedOf(request);
        const sealed = await sessionCredentials.sealedFor(sessionId, created);
        return unrecorded.create(tenant, sessionId, keyed, async () => {
          const records = accepted(await registry.create(sessionId, { kind: 'create', created, transcript }, sealed));
          if (records.at(-1)?.type === 'session_ready') return this.#sessions.createdView(tenant, sessionId, created);
          await this.#following.untilCreated(sessionId, records.at(-1)?.sequence ?? 0);
          return this.#createdView(sessionId);
        });
      });
    });
  }

  async assertThere(tenant: string, sessionId: string): Promise<void> {
    await answering(async () => this.#sessions.row(tenant, sessionId));
  }

  async get(tenant: string, sessionId: string): Promise<SessionView> {
    return answering(async () => {
      const view = await this.#sessions.view(tenant, sessionId);
      // At rest there is nothing to explain, and a session that is not in memory need not be read for it.
      if (view.status === 'idle' || view.status === 'ended') return view;
      const explanation = await explain(this.#parts.registry, sessionId);
      return explanation === null ? view : { ...view, explanation };
    });
  }

  async list(tenant: string, query: ListQuery): Promise<SessionPage> {
    return answering(async () => sessionPage({ catalog: this.#parts.catalog, sessions: this.#sessions }, tenant, query));
  }

  async repeated<R extends KeyedRoute>(
    tenant: string,
    sessionId: string | null,
    call: KeyedCall<R>,
  ): Promise<{ readonly answer: RouteAnswers[R] } | null> {
    return answering(async () => {
      if (call.route === 'create' || call.route === 'delete') {
        return (await this.#parts.unrecorded.repeated(tenant, sessionId, call)) as { readonly answer: RouteAnswers[R] } | null;
      }
      if (sessionId === null) throw new Error('only a create names no session');
      await this.#sessions.row(tenant, sessionId);
      const first = await this.#parts.registry.readState(sessionId, (state) => state.requests.find(call.request, this.#parts.clock.now()));
      if (first === null) return null;
      return { answer: (await this.#again(sessionId, call, first)) as RouteAnswers[R] };
    });
  }

  async send(tenant: string, sessionId: string, input: UserInput, keyed?: KeyedCall): Promise<TurnAnswer> {
    return this.#keyed(tenant, sessionId, { kind: 'send', input, mode: 'sync' }, keyed, (records) =>
      this.#following.turnAnswer(sessionId, records),
    );
  }

  async submit(tenant: string, sessionId: string, input: UserInput, keyed?: KeyedCall): Promise<TurnReceipt> {
    return this.#keyed(tenant, sessionId, { kind: 'send', input, mode: 'async' }, keyed, (records) =>
      Promise.resolve({ session_id: sessionId, sequence: startedIn(records) }),
    );
  }

  async queue(
    tenant: string,
    sessionId: string,
    message: QueuedMessage,
  ): Promise<LifecycleEvent<'user.message'>> {
    return answering(async () => {
      const { registry, work } = this.#parts;
      return work.run(async () => {
        await this.#sessions.row(tenant, sessionId);
        // What is known asks for no new work.
        const known = this.#parts.isDraining() ? await messageKnown(registry, sessionId, message) : null;
        if (known !== null) return known;
        this.#admit();
        return queueMessage(registry, sessionId, message);
      });
    });
  }

  async waiting(tenant: string, sessionId: string): Promise<readonly WaitingMessage[]> {
    return answering(async () => {
      await this.#sessions.createdRow(tenant, sessionId);
      return waitingMessages(this.#parts.registry, sessionId);
    });
  }

  async withdraw(tenant: string, sessionId: string, messageSequence: Sequence): Promise<void> {
    return answering(async () => {
      const { registry, work } = this.#parts;
      await work.run(async () => {
        await this.#sessions.row(tenant, sessionId);
        await withdrawMessage(registry, sessionId, messageSequence);
      });
    });
  }

  async close(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<void> {
    await this.#keyed(tenant, sessionId, { kind: 'end', mode: 'interrupt' }, keyed, () => Promise.resolve(null));
  }

  async cancel(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<void> {
    await this.#keyed(tenant, sessionId, { kind: 'cancel', by: 'caller' }, keyed, () => Promise.resolve(null));
  }

  async resume(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<SessionView> {
    return this.#keyed(tenant, sessionId, { kind: 'resume' }, keyed, () => this.#sessions.view(tenant, sessionId));
  }

  async end(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<SessionView> {
    return this.#keyed(tenant, sessionId, { kind: 'end', mode: 'wait' }, keyed, async () => {
      await this.#following.untilEnded(sessionId);
      return this.#sessions.view(tenant, sessionId);
    });
  }

  async changeMetadata(tenant: string, sessionId: string, changes: MetadataChanges, keyed?: KeyedCall): Promise<SessionView> {
    return this.#keyed(tenant, sessionId, { kind: 'change_metadata', changes }, keyed, () => this.#sessions.view(tenant, sessionId));
  }

  async delete(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<void> {
    return answering(async () => {
      const { registry, unrecorded, work } = this.#parts;
      await work.run(async () => {
        await this.#sessions.row(tenant, sessionId);
        // What keeps the session from being opened is said before its key is taken.
        await registry.recover(sessionId);
        await unrecorded.delete(tenant, sessionId, keyed, async () => {
          accepted(await registry.delete(sessionId));
        });
      });
    });
  }

  async lifecycleEvents(
    tenant: string,
    sessionId: string,
    query: PageQuery<LifecycleCursor>,
  ): Promise<Page<LifecycleEvent, LifecycleCursor>> {
    return answering(async () => {
      await this.#sessions.createdRow(tenant, sessionId);
      return this.#parts.registry.read(sessionId, (journal) => lifecyclePage(journal, query));
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
      await this.#sessions.row(tenant, sessionId);
      return this.#parts.registry.readState(sessionId, (state) => ({
        messages: state.transcript.messages(),
        through_sequence: state.lastSequence,
      }));
    });
  }

  async followLifecycle(
    tenant: string,
    sessionId: string,
    after: LifecycleCursor,
    signal: AbortSignal,
  ): Promise<Following<LifecycleEvent>> {
    return answering(async () => {
      await this.#sessions.createdRow(tenant, sessionId);
      return this.#following.follow(sessionId, after, signal, (record) => lifecycleEventsAfter(record, after));
    });
  }

  async followEvents(tenant: string, sessionId: string, after: Sequence, signal: AbortSignal): Promise<Following<PublicEvent>> {
    return this.#follow(tenant, sessionId, bySequence(after), signal, this.#publicEventsOf);
  }

  async followJournal(tenant: string, sessionId: string, after: Sequence, signal: AbortSignal): Promise<Following<SessionRecord>> {
    return this.#follow(tenant, sessionId, bySequence(after), signal, (record) => [record]);
  }

  /** The answer of a create whose environments were set up, or not. */
  async #createdView(sessionId: string): Promise<SessionView> {
    const { registry } = this.#parts;
    const answer = await registry.read(sessionId, (journal) => creationAnswer(journal, registry.isResident(sessionId)));
    if (answer.kind === 'ready') return answer.view;
    if (answer.kind === 'failed') throw answer.error;
    if (answer.kind === 'under_way') throw new ServiceError('draining', 'the server was shut down before the session was created');
    const message = 'the disk failed under the session while its environments were set up; the session stays, and can be deleted';
    throw new ServiceError('journal_unavailable', message, { details: { session_id: sessionId } });
  }

  #admit(): void {
    if (this.#parts.isDraining()) throw new ServiceError('draining', 'the server is shutting down and takes no new work');
  }

  async #read<T>(tenant: string, sessionId: string, work: (journal: Journal) => Promise<T>): Promise<T> {
    await this.#sessions.row(tenant, sessionId);
    return this.#parts.registry.read(sessionId, work);
  }

  /**
   * Submits a command of the session and answers from what it recorded; where its key was used before, with the first
   * answer again.
   */
  async #keyed<T extends RouteAnswers[KeyedRoute]>(
    tenant: string,
    sessionId: string,
    command: SessionCommand,
    keyed: KeyedCall | undefined,
    answer: (records: readonly SessionRecord[]) => Promise<T>,
  ): Promise<T> {
    return answering(async () => {
      const { registry, work } = this.#parts;
      const receipt = await work.run(async () => {
        await this.#sessions.row(tenant, sessionId);
        if (command.kind === 'send' || command.kind === 'resume') this.#admit();
        return registry.command(sessionId, command, keyed?.request);
      });
      if (receipt.kind === 'repeated' && keyed !== undefined) {
        const first = (await this.#again(sessionId, keyed, receipt.first)) as T;
        keyed.isReplayed = true;
        return first;
      }
      const records = accepted(receipt);
      const answered = await answer(records);
      const first = records.find(({ request }) => request !== undefined);
      const isView = command.kind !== 'send' && command.kind !== 'cancel';
      if (keyed === undefined || first === undefined || !isView) return answered;
      // Whatever came meanwhile: what a repeat will be told is what is told now.
      return (await this.#again(sessionId, keyed, { sequence: first.sequence, body: keyed.request.body })) as T;
    });
  }

  async #again(sessionId: string, keyed: KeyedCall, first: FirstRequest): Promise<RouteAnswers[KeyedRoute]> {
    const { registry } = this.#parts;
    return registry.read(sessionId, (journal) => answerAgain(journal, keyed, first, registry.isResident(sessionId)));
  }

  async #follow<T>(
    tenant: string,
    sessionId: string,
    after: LifecycleCursor,
    signal: AbortSignal,
    project: (record: SessionRecord) => readonly T[],
  ): Promise<Following<T>> {
    return answering(async () => {
      await this.#sessions.row(tenant, sessionId);
      return this.#following.follow(sessionId, after, signal, project);
    });
  }
}

/** A position between records. */
function bySequence(sequence: Sequence): LifecycleCursor {
  return { sequence, index: null };
}

function startedIn(records: readonly SessionRecord[]): Sequence {
  const started = records.find(({ type }) => type === 'turn_started');
  if (started === undefined) throw new Error('an accepted message starts its turn in the same commit');
  return started.sequence;
}
