/** Checks of what clients are answered: each answer must be on the device, and be what the session's ledger says. */
import type { PublicEvent } from '../../../machines/projections/public-events.ts';
import type { LifecycleEvent } from '../../../machines/projections/lifecycle-events.ts';
import type { Page, SessionView, TurnAnswer, TurnReceipt, DamagedSessionView, WaitingMessage } from '../../../services/session-service.ts';
import type { Request } from '../request.ts';
import type { DurableSessions } from './durable-sessions.ts';
import type { WrittenRecord } from './journal-bytes.ts';
import { expectSameEvent, nextLifecycle, type ShownCursor } from './lifecycle-shown.ts';
import { publicOf, SessionLedger } from './session-ledger.ts';
import { expectThat, same } from './violation.ts';

/** How a session stood on the device when something was asked of it. */
export interface StoodThen {
  readonly last: number;
  readonly state: string;
  readonly turn: number | null;
  readonly isTurnStopped: boolean;
}

const STATUS: Readonly<Record<string, string>> = {
  creating: 'creating',
  idle: 'idle',
  suspended: 'idle',
  'running.working': 'running',
  'running.cancelling': 'running',
  interrupted: 'interrupted',
  failed: 'failed',
  unusable: 'failed',
  ending: 'ending',
  ended: 'ended',
};

export class AnswerChecks {
  readonly #sessions: DurableSessions;
  readonly #mayFail: (sessionId: string) => boolean;

  /** `mayFail`: whether something was done that explains a session that cannot be read. */
  constructor(sessions: DurableSessions, mayFail: (sessionId: string) => boolean) {
    this.#sessions = sessions;
    this.#mayFail = mayFail;
  }

  stands(sessionId: string | null): StoodThen | null {
    const ledger = sessionId === null ? null : this.#sessions.ledger(sessionId);
    if (ledger === null) return null;
    return { last: ledger.last, state: ledger.state, turn: ledger.turn?.message ?? null, isTurnStopped: (ledger.turn?.cancel ?? null) !== null };
  }

  check(request: Request, stood: StoodThen | null, answer: unknown): void {
    if (request.route === 'create') {
      this.#created(request, answer as SessionView);
      return;
    }
    if (request.route === 'list') {
      this.#listed(request.tenant, (answer as { readonly sessions: readonly (SessionView | DamagedSessionView)[] }).sessions);
      return;
    }
    const sessionId = request.sessionId ?? '';
    const what = `the answer to ${nameOf(request)}`;
    if (request.route === 'delete') {
      this.#sessions.deleted.add(sessionId);
      expectThat(!this.#sessions.ids.includes(sessionId), 13, () => `${what} says that it is gone, and the device holds it`);
      return;
    }
    if (this.#sessions.leaving.has(sessionId) || this.#sessions.rotten.has(sessionId)) return;
    const ledger = this.#sessions.ledger(sessionId);
    expectThat(ledger !== null, 12, () => `${what} is of a session that the device does not hold`);
    if (ledger !== null) this.#ofSession(request, { stood, ledger, what, sessionId }, answer);
  }

  #ofSession(
    request: Request,
    { stood, ledger, what, sessionId }: { readonly stood: StoodThen | null; readonly ledger: SessionLedger; readonly what: string; readonly sessionId: string },
    answer: unknown,
  ): void {
    switch (request.route) {
      case 'submit':
        this.#started(request, ledger, (answer as TurnReceipt).sequence, what);
        return;
      case 'send': {
        const { sequence, outcome, last_sequence } = answer as TurnAnswer;
        this.#sessions.shown(sessionId, last_sequence, what);
        this.#started(request, ledger, sequence, what);
        const last = ledger.records[last_sequence - 1];
        expectThat(last?.type === `turn_${outcome}`, 12, () => `${what} says ${outcome}, and record ${last_sequence} is ${String(last?.type)}`);
        return;
      }
      case 'cancel':
      case 'interrupt':
        this.#stopped(request, { stood, ledger, what, sessionId });
        return;
      case 'queue': {
        const { sequence, data } = answer as LifecycleEvent<'user.message'>;
        this.#sessions.shown(sessionId, sequence, what);
        const message = ledger.records[sequence - 1];
        const isIt = message?.type === 'message_queued' && same([message.data['input'], message.data['key']], [request.body, request.key ?? undefined]);
        expectThat(isIt && data.text === request.body, 10, () => `${what} names record ${sequence}, which is not that message`);
        return;
      }
      case 'withdraw': {
        const withdrawn = ledger.records.find(({ type, data }) => type === 'message_withdrawn' && data['message_sequence'] === Number(request.body));
        expectThat(withdrawn !== undefined, 13, () => `${what} came, and the device holds no withdrawal of ${request.body}`);
        this.#sessions.shown(sessionId, withdrawn?.sequence ?? 0, what);
        return;
      }
      case 'close': {
        const asked = ledger.records.findLast(({ type }) => type === 'session_end_requested' || type === 'session_ending');
        expectThat(asked !== undefined, 13, () => `${what} came, and the device holds no end that was asked for`);
        this.#sessions.shown(sessionId, asked?.sequence ?? 0, what);
        return;
      }
      case 'waiting': {
        const told = answer as readonly WaitingMessage[];
        for (const { message_sequence, text } of told) {
          this.#sessions.shown(sessionId, message_sequence, what);
          expectThat(ledger.records[message_sequence - 1]?.data['input'] === text, 6, () => `${what} tells of a message at ${message_sequence} that is another there`);
        }
        const order = told.map(({ message_sequence }) => message_sequence);
        expectThat(same(order, [...order].sort((a, b) => a - b)), 10, () => `${what} is not in the order in which the messages came`);
        return;
      }
      case 'lifecycle': {
        const { items } = answer as { readonly items: readonly LifecycleEvent[] };
        this.#sessions.shown(sessionId, items.at(-1)?.sequence ?? 0, what);
        let cursor: ShownCursor = { sequence: 0, index: null };
        for (const event of items) {
          expectSameEvent(event, nextLifecycle(ledger.records, cursor), what);
          cursor = event;
        }
        const missed = nextLifecycle(ledger.records.slice(0, stood?.last ?? 0), cursor);
        expectThat(missed === null, 8, () => `${what} leaves out ${JSON.stringify(missed)}`);
        return;
      }
      case 'end':
        this.#sessions.shown(sessionId, ledger.records.findIndex(({ type }) => type === 'session_ended') + 1, what);
        expectThat(ledger.state === 'ended', 13, () => `${what} came, and the session is ${ledger.state}`);
        return;
      case 'resume': {
        const wasHeld = stood?.state === 'interrupted' || stood?.state === 'failed';
        const isResumed = ledger.records.slice(stood?.last ?? 0).some(({ type }) => type === 'session_resumed');
        expectThat(!wasHeld || request.isRepeat || isResumed, 13, () => `${what} came, and the session was not resumed`);
        return;
      }
      case 'change_metadata': {
        const [name = '', value = ''] = request.body.split('=');
        const isThere = ledger.records.some((record) => (record.data['metadata'] as Record<string, string> | undefined)?.[name] === value);
        expectThat(isThere, 12, () => `${what} came, and the device holds no such change`);
        return;
      }
      case 'get':
        this.#viewed(answer as SessionView, what);
        return;
      case 'transcript': {
        const { messages, through_sequence } = answer as { readonly messages: readonly unknown[]; readonly through_sequence: number };
        this.#sessions.shown(sessionId, through_sequence, what);
        expectThat(same(messages, ledgerAt(ledger, through_sequence).transcript), 6, () => `${what} is not the transcript at ${through_sequence}`);
        return;
      }
      case 'events':
        this.#page(sessionId, ledger, answer as Page<PublicEvent>, publicOf, what);
        return;
      case 'journal':
        this.#page(sessionId, ledger, answer as Page<PublicEvent>, (record) => record, what);
        return;
      default:
        return;
    }
  }

  #stopped(
    request: Request,
    { stood, ledger, what, sessionId }: { readonly stood: StoodThen | null; readonly ledger: SessionLedger; readonly what: string; readonly sessionId: string },
  ): void {
    // A repeat of a key is answered as the first was, whatever runs by now.
    const turn = stood === null || stood.isTurnStopped || request.isRepeat ? null : stood.turn;
    if (turn === null) return;
    const isThere = ledger.turn?.message === turn;
    expectThat(!isThere || ledger.turn?.cancel !== null, 13, () => `${what} came, and the turn of ${turn} runs on`);
    const stop = ledger.records.findLast(({ type, data }) => (type === 'turn_cancel_requested' || type === 'turn_ended' || type === 'turn_failed') && data['message_sequence'] === turn);
    this.#sessions.shown(sessionId, stop?.sequence ?? 0, what);
  }

  #created(request: Request, view: SessionView): void {
    if (this.#sessions.leaving.has(view.session_id) || this.#sessions.rotten.has(view.session_id)) return;
    const what = `the answer to ${nameOf(request)}`;
    this.#sessions.shown(view.session_id, view.last_sequence, what);
    expectThat(this.#sessions.ledger(view.session_id)?.created['system'] === view.system, 12, () => `${what} is another session's`);
  }

  #listed(tenant: string, listed: readonly (SessionView | DamagedSessionView)[]): void {
    const ids = listed.map(({ session_id }) => session_id);
    expectThat(same(ids, [...ids].sort()), 8, () => 'a list is not in the order of ids');
    for (const session of listed) {
      if (!('damaged' in session)) {
        const owner = this.#sessions.ledger(session.session_id)?.tenant ?? tenant;
        expectThat(owner === tenant, 11, () => `a list for ${tenant} shows a session of ${owner}`);
        this.#viewed(session, 'a list');
      } else expectThat(this.#sessions.rotten.has(session.session_id) || this.#mayFail(session.session_id), 11, () => `a list calls ${session.session_id} damaged, and nothing was damaged in it`);
    }
  }

  #viewed(view: SessionView, what: string): void {
    const { session_id, last_sequence, status } = view;
    if (this.#sessions.leaving.has(session_id) || this.#sessions.rotten.has(session_id)) return;
    this.#sessions.shown(session_id, last_sequence, what);
    const ledger = this.#sessions.ledger(session_id);
    if (ledger === null) return;
    const then = ledgerAt(ledger, last_sequence);
    expectThat(status === STATUS[then.state], 6, () => `${what} says ${status} at ${last_sequence}, where the session is ${then.state}`);
    expectThat(same(view.metadata, then.metadata), 6, () => `${what} has other metadata than record ${last_sequence} left`);
    expectThat(same(view.model, then.created['model']), 15, () => `${what} has another model than the creation`);
  }

  #started(request: Request, ledger: SessionLedger, sequence: number, what: string): void {
    this.#sessions.shown(request.sessionId ?? '', sequence, what);
    const record = ledger.records[sequence - 1];
    const message = ledger.records[((record?.data['message_sequence'] as number | undefined) ?? 0) - 1];
    const isIt = record?.type === 'turn_started' && message?.type === 'message_queued' && message.data['input'] === request.body;
    expectThat(isIt, 10, () => `${what} names record ${sequence}, which starts no turn for ${request.body}`);
  }

  #page<T>(sessionId: string, ledger: SessionLedger, page: Page<T>, project: (record: WrittenRecord) => unknown, what: string): void {
    this.#sessions.shown(sessionId, page.next_cursor, what);
    const expected = ledger.records.slice(0, page.next_cursor).map(project).filter((item) => item !== null);
    expectThat(same(page.items, expected), 8, () => `${what} is not what the records up to ${page.next_cursor} are`);
  }
}

export function nameOf({ number, route, label, key }: Request): string {
  return `#${number} ${route} ${label}${key === null ? '' : ` with key ${key}`}`;
}

function ledgerAt(ledger: SessionLedger, sequence: number): SessionLedger {
  if (sequence === ledger.last) return ledger;
  const then = new SessionLedger();
  for (const record of ledger.records.slice(0, sequence)) then.enter(record);
  return then;
}
