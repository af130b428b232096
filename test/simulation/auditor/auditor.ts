/**
 * The auditor: told of everything that leaves Brain, at the instant at which it does, it compares that with what the device
 * holds then. It shares nothing with what it checks but the types of what it is handed.
 */
import type { JsonValue, Message } from '../../../machines/messages.ts';
import type { PublicEvent } from '../../../machines/projections/public-events.ts';
import type { LoopModelAnswer, LoopToolAnswer, Refused, TurnInput } from '../../../services/loops/agent-loop.ts';
import type { ModelRequest } from '../../../services/models/model-provider.ts';
import type { LiveEvent } from '../../../services/session-service.ts';
import type { ToolContext } from '../../../services/tools/tool.ts';
import { RUNNING_TURNS_MAX } from '../bounds.ts';
import type { Coverage } from '../coverage.ts';
import type { DiskPort } from '../disk-port.ts';
import type { EffectWatcher } from '../effects-port.ts';
import { READS, type Request } from '../request.ts';
import type { LoopWatcher } from '../test-loop.ts';
import { AnswerChecks, nameOf, type StoodThen } from './answers.ts';
import { Declared } from './declared.ts';
import { DeletesAsked } from './deletes-asked.ts';
import { DurableSessions } from './durable-sessions.ts';
import { Excuses } from './excuses.ts';
import { expectSameEvent, nextLifecycle, type ShownCursor, type ShownEvent } from './lifecycle-shown.ts';
import { OperationChecks } from './operations.ts';
import { publicOf, type SessionLedger } from './session-ledger.ts';
import { expectThat, same, Violation } from './violation.ts';

/** What a process found of a session when it started. */
interface Found {
  readonly last: number;
  readonly open: ReadonlyMap<number, string>;
}

export class Auditor implements EffectWatcher, LoopWatcher {
  readonly sessions: DurableSessions;
  readonly excuses: Excuses;
  readonly environments: OperationChecks;
  readonly declared: Declared;
  /** The first thing found broken; everything after it may follow from it. */
  violation: Violation | null = null;
  readonly #answers: AnswerChecks;
  readonly #deletes: DeletesAsked;
  readonly #coverage: Coverage;
  readonly #asked = new Map<number, StoodThen | null>();
  readonly #dispatched = new Set<string>();
  readonly #firstAnswers = new Map<string, unknown>();
  /** The last turn of each session whose loop began in this process. */
  readonly #begun = new Map<string, number>();
  #found = new Map<string, Found>();

  constructor(port: DiskPort, coverage: Coverage) {
    this.#coverage = coverage;
    this.sessions = new DurableSessions(port, {
      recorded: (before, type, after) => coverage.transition(before, type, after),
      removed: (sessionId, ledger) => this.environments.removed(sessionId, ledger),
    });
    this.environments = new OperationChecks(this.sessions, (check) => this.#check(check));
    this.declared = new Declared(this.sessions);
    this.#deletes = new DeletesAsked(this.sessions);
    this.excuses = new Excuses(this.sessions, this.declared);
    this.#answers = new AnswerChecks(this.sessions, (sessionId) => this.excuses.hasFailedOn(sessionId));
  }

  /** Looks at the whole disk. */
  look(): void {
    this.#check(() => {
      this.sessions.refresh();
      this.declared.look();
      this.environments.look();
    });
  }

  /** A process has died, or is over: what is on the disk now is what the next one finds. */
  died(how: string): void {
    this.#check(() => {
      this.#found = new Map();
      this.sessions.refresh();
      for (const sessionId of this.sessions.visibleIds()) {
        if (this.sessions.rotten.has(sessionId)) continue;
        const { ledger } = this.sessions.visible(sessionId);
        this.#found.set(sessionId, { last: ledger.last, open: new Map(ledger.open) });
        this.#coverage.death(how, ledger.state, new Set(ledger.open.values()));
      }
    });
    this.environments.died(new Map([...this.#found].map(([sessionId, { last }]) => [sessionId, last])));
    this.declared.died();
    this.excuses.died();
    this.#begun.clear();
  }

  asked(request: Request): void {
    this.#check(() => {
      this.#asked.set(request.number, this.#answers.stands(request.sessionId));
      if (request.route === 'delete' && request.sessionId !== null && !this.#isStranger(request)) this.#deletes.asked(request.sessionId, request);
      this.excuses.asked(request);
    });
  }

  answered(request: Request, answer: unknown): void {
    this.#check(() => {
      expectThat(!this.#isStranger(request), 11, () => `${nameOf(request)} is answered, and the session is not ${request.tenant}'s`);
      this.#answers.check(request, this.#asked.get(request.number) ?? null, answer);
      this.excuses.answered(request);
      const isStop = request.route === 'cancel' || request.route === 'interrupt' || request.route === 'close';
      if (isStop && request.sessionId !== null && !request.isRepeat) this.environments.stopHeard(request.sessionId);
      const rottenIn = this.sessions.rotten.get(request.sessionId ?? '') ?? Infinity;
      // Other answers need not read what is damaged: a checkpoint spares them.
      expectThat(request.route !== 'events' || request.process <= rottenIn, 1, () => `${nameOf(request)} is answered from a journal that was damaged`);
      if (request.sessionId !== null) this.#expectSettled(request.sessionId, nameOf(request));
      this.#expectFirstAnswer(request, answer);
    });
  }

  refused(request: Request, code: string): void {
    this.#check(() => {
      if (this.#isStranger(request) && code === 'not_found') return;
      if (request.route === 'delete' && request.sessionId !== null) this.#deletes.refused(request.sessionId, request, code);
      this.excuses.check(request, code);
    });
  }

  modelCalled(request: ModelRequest): void {
    this.#check(() => {
      const found = this.sessions.byLabel(request.model.name);
      expectThat(found !== null, 2, () => `a model is called for ${request.model.name}, which the device does not hold`);
      if (found === null) return;
      const [sessionId, ledger] = found;
      if (this.sessions.rotten.has(sessionId)) return;
      const open = [...ledger.open].filter(([, kind]) => kind === 'model_call').map(([sequence]) => sequence);
      const free = open.filter((sequence) => !this.#dispatched.has(`${sessionId} ${sequence}`));
      expectThat(open.length > 0, 2, () => `a model is called for ${request.model.name}, and no start of it is on the device`);
      const [sequence] = free;
      expectThat(sequence !== undefined, 3, () => `a model is called again for record ${String(open[0])} of ${request.model.name}`);
      if (sequence === undefined) return;
      this.#dispatched.add(`${sessionId} ${sequence}`);
      const started = ledger.records[sequence - 1];
      if (started === undefined) return;
      const { messages, ...rest } = ledger.requestOf(started);
      expectThat(same(request.messages, messages), 6, () => `the request of record ${sequence} is not what the records say`);
      const { system, tools, parameters } = request;
      expectThat(same({ system, tools, parameters }, rest), 15, () => `the request of record ${sequence} has another system text, other tools or parameters than the records say`);
      expectThat(same(request.model, ledger.created['model']), 15, () => `a model is called at ${String(request.model.base_url)}, and the creation says otherwise`);
    });
  }

  toolCalled(tool: string, input: JsonValue, { session_id, sequence }: ToolContext): void {
    this.#check(() => {
      if (this.sessions.rotten.has(session_id)) return;
      const ledger = this.sessions.ledger(session_id);
      const started = ledger?.records[sequence - 1];
      expectThat(started?.type === 'tool_call_started', 2, () => `${tool} is called for record ${sequence}, and the device holds no such start`);
      const name = `${session_id} ${sequence}`;
      expectThat(!this.#dispatched.has(name), 3, () => `${tool} is called again for record ${sequence}`);
      this.#dispatched.add(name);
      const names = ((ledger?.created['tools'] ?? []) as readonly { readonly name: string }[]).map((one) => one.name);
      expectThat(started?.data['tool'] === tool && names.includes(tool), 15, () => `${tool} is called, and record ${sequence} names ${String(started?.data['tool'])}`);
      const text = started?.data['input_text'] as string;
      expectThat(same(input, text === '' ? {} : JSON.parse(text)), 15, () => `${tool} is called with other arguments than record ${sequence} has`);
    });
  }

  turnBegan(input: TurnInput): void {
    const { session_id, message_sequence, transcript, message, checkpoint_sequence } = input;
    this.#ofLoop(session_id, (ledger) => {
      this.sessions.shown(session_id, message_sequence, 'a loop that begins');
      this.#begun.set(session_id, message_sequence);
      const running = [...this.#begun].filter(([id, message]) => this.#isRunning(id, message));
      expectThat(running.length <= RUNNING_TURNS_MAX, 11, () => `a loop begins for ${message_sequence}, and ${running.length} run`);
      expectThat(same(message, ledger.messageOf(message_sequence)), 6, () => `a loop is given another message than record ${message_sequence}`);
      const isGoneBack = ledger.dropped.size > 0 ? 14 : 6;
      expectThat(same(transcript, ledger.transcript), isGoneBack, () => `the loop of ${message_sequence} is given a transcript that the records do not make`);
      expectThat(checkpoint_sequence === ledger.checkpoint, 6, () => `the loop of ${message_sequence} is given checkpoint ${checkpoint_sequence}, not ${ledger.checkpoint}`);
      const { created } = ledger;
      expectThat(same([input.system, input.configuration], [created['system'], created['configuration']]), 15, () => `the loop of ${message_sequence} is given another system text or configuration than the creation has`);
      const names = (tools: unknown): readonly string[] => (tools as readonly { readonly name: string }[]).map(({ name }) => name);
      expectThat(same(names(input.tools), names(created['tools'])), 15, () => `the loop of ${message_sequence} is given other tools than the creation has`);
    });
  }

  heardModel(sessionId: string, answer: LoopModelAnswer): void {
    if (answer.outcome !== 'ended') return;
    this.#ofLoop(sessionId, (ledger) => {
      this.sessions.shown(sessionId, answer.sequence, "a model's answer");
      const record = ledger.records[answer.sequence - 1];
      expectThat(record?.type === 'model_call_ended' && same(record.data['message'], answer.message), 12, () => `a loop hears an answer that record ${answer.sequence} is not`);
    });
  }

  heardTools(sessionId: string, answers: readonly LoopToolAnswer[]): void {
    this.#ofLoop(sessionId, (ledger) => {
      for (const { sequence, outcome, output } of answers) {
        if (sequence === null) continue;
        const record = ledger.records.find(({ type, data }) => type === 'tool_call_ended' && data['started_sequence'] === sequence);
        expectThat(record !== undefined, 12, () => `a loop hears how tool call ${sequence} ended, and no end of it is on the device`);
        expectThat(same([record?.data['outcome'], record?.data['output']], [outcome, output]), 12, () => `a loop hears that tool call ${sequence} ended ${outcome}, and its record says otherwise`);
      }
    });
  }

  heardEvents(sessionId: string, after: number, events: readonly PublicEvent[]): void {
    this.#ofLoop(sessionId, (ledger) => {
      const dropped = events.find(({ sequence }) => ledger.dropped.has(sequence));
      expectThat(dropped === undefined, 14, () => `a loop is shown event ${String(dropped?.sequence)}, which a resume went back behind`);
      this.sessions.shown(sessionId, events.at(-1)?.sequence ?? 0, "a loop's events");
      const counting = ledger.records.slice(after).filter(({ sequence }) => !ledger.dropped.has(sequence));
      const expected = counting.flatMap((record) => publicOf(record) ?? []).slice(0, events.length);
      expectThat(same(events, expected), 8, () => `a loop's events after ${after} are not those of the records`);
    });
  }

  heardValue(sessionId: string, key: string, answer: { readonly found: boolean; readonly value?: JsonValue }): void {
    this.#ofLoop(sessionId, (ledger) => {
      const expected = ledger.values.has(key) ? { found: true, value: ledger.values.get(key) } : { found: false };
      expectThat(same(answer, expected), ledger.dropped.size > 0 ? 14 : 6, () => `a loop reads ${key} as ${JSON.stringify(answer)}, and the records say ${JSON.stringify(expected)}`);
    });
  }

  heardEmitted(sessionId: string, answer: { readonly sequence: number } | Refused): void {
    if (!('sequence' in answer)) return;
    this.#ofLoop(sessionId, () => this.sessions.shown(sessionId, answer.sequence, 'an emit'));
  }

  saved(sessionId: string, what: { readonly transcript: readonly Message[] } | { readonly key: string; readonly value: JsonValue | undefined }): void {
    this.#ofLoop(sessionId, (ledger) => {
      if ('transcript' in what) expectThat(same(what.transcript, ledger.transcript), 12, () => 'a loop is told that its transcript is saved, and it is not on the device');
      else expectThat(same(ledger.values.get(what.key), what.value), 12, () => `a loop is told that ${what.key} is saved, and it is not on the device`);
    });
  }

  /** A follower was shown an event; `cursor`: of the last before it. */
  followed(sessionId: string, cursor: number, event: PublicEvent): void {
    this.#check(() => {
      if (this.sessions.leaving.has(sessionId) || this.sessions.rotten.has(sessionId)) return;
      this.sessions.shown(sessionId, event.sequence, 'a stream');
      const expected = this.sessions.ledger(sessionId)?.nextPublic(cursor) ?? null;
      expectThat(same(event, expected), 8, () => `a stream shows ${event.sequence} ${event.type} after ${cursor}, and the next is ${JSON.stringify(expected)}`);
      this.#expectSettled(sessionId, 'a stream', event.sequence);
    });
  }

  followedLifecycle(sessionId: string, cursor: ShownCursor, event: ShownEvent): void {
    this.#check(() => {
      if (this.sessions.leaving.has(sessionId) || this.sessions.rotten.has(sessionId)) return;
      this.sessions.shown(sessionId, event.sequence, 'a lifecycle stream');
      expectSameEvent(event, this.nextLifecycle(sessionId, cursor), 'a lifecycle stream');
      this.#expectSettled(sessionId, 'a lifecycle stream', event.sequence);
    });
  }

  nextLifecycle(sessionId: string, cursor: ShownCursor): ShownEvent | null {
    return nextLifecycle(this.sessions.ledger(sessionId)?.records ?? [], cursor);
  }

  /** A follower was shown what is never recorded. */
  heardLive(sessionId: string, { type, message_sequence }: LiveEvent): void {
    this.#ofLoop(sessionId, (ledger) => {
      const started = ledger.records.some((record) => record.type === 'turn_started' && record.data['message_sequence'] === message_sequence);
      expectThat(started, 12, () => `${type} is shown of a turn of ${message_sequence}, which the device does not hold`);
    });
  }

  /** A stream ended of itself. Of a session that is to be deleted it may, at any moment. */
  followingEnded(sessionId: string, stream: { readonly at: string; missed(): unknown }, ended: { readonly isDraining: boolean; readonly code: string | null }): void {
    this.#check(() => {
      if (this.sessions.rotten.has(sessionId)) return;
      const ledger = this.sessions.ledger(sessionId);
      if (ended.code !== null) {
        this.excuses.checkStream(sessionId, ended.code);
        return;
      }
      if (this.sessions.leaving.has(sessionId)) return;
      const missed = stream.missed();
      const isOver = ledger?.state === 'ended' || ended.isDraining;
      expectThat(missed === null && isOver, 8, () => `a stream ends after ${stream.at}, in ${String(ledger?.state)}, and ${JSON.stringify(missed)} is to come`);
    });
  }

  /** Checks of the world's own. */
  expect(holds: boolean, invariant: number, reason: () => string): void {
    this.#check(() => expectThat(holds, invariant, reason));
  }

  #isStranger({ tenant, sessionId }: Request): boolean {
    const ledger = sessionId === null ? null : this.sessions.ledger(sessionId);
    return ledger !== null && ledger.tenant !== tenant;
  }

  /** A session whose files failed may have been given up, and its turn with it, before its journal says so. */
  #isRunning(sessionId: string, message: number): boolean {
    const isSure = !this.excuses.hasFailedOn(sessionId) && !this.sessions.rotten.has(sessionId) && !this.sessions.leaving.has(sessionId);
    return isSure && this.sessions.ledger(sessionId)?.turn?.message === message;
  }

  /** What was open when this process started is closed before anything is told of the session, and says so. */
  #expectSettled(sessionId: string, what: string, through = Infinity): void {
    const found = this.#found.get(sessionId);
    const ledger = this.sessions.ledger(sessionId);
    const isExempt = this.sessions.leaving.has(sessionId) || this.sessions.rotten.has(sessionId);
    if (found === undefined || ledger === null || isExempt || through <= found.last) return;
    const turn = ledger.turn;
    expectThat(turn === null || turn.started > found.last, 7, () => `${what} finds a turn running that an earlier process started`);
    for (const [sequence, kind] of found.open) {
      const outcome = ledger.outcomes.get(sequence) ?? 'nothing';
      const isTold = kind === 'activation' ? outcome === 'failed' : outcome === 'unknown';
      expectThat(isTold, 5, () => `${what} finds that the ${kind} ${sequence}, open at a death, ended ${outcome}`);
    }
    this.#found.delete(sessionId);
  }

  #expectFirstAnswer({ key, ...request }: Request, answer: unknown): void {
    if (key === null || READS.has(request.route)) return;
    const told = toldBy(answer);
    const name = `${request.route} ${request.tenant} ${request.sessionId ?? ''} ${key}`;
    const first = this.#firstAnswers.get(name);
    if (first === undefined) this.#firstAnswers.set(name, told);
    else expectThat(same(first, told), 9, () => `${nameOf({ key, ...request })} is answered ${JSON.stringify(told)}, and was ${JSON.stringify(first)} before`);
  }

  #ofLoop(sessionId: string, check: (ledger: SessionLedger) => void): void {
    this.#check(() => {
      const ledger = this.sessions.ledger(sessionId);
      if (ledger === null || this.sessions.rotten.has(sessionId)) return;
      check(ledger);
      this.#expectSettled(sessionId, 'a loop');
    });
  }

  #check(check: () => void): void {
    if (this.violation !== null) return;
    try {
      check();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.violation = error;
    }
  }
}

/** Whether its actor is in memory is as of now, in a repeat too. */
function toldBy(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null ? { ...answer, resident: null } : answer;
}
