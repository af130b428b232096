/**
 * Checks of what environments are asked, and of what they answer: each operation has its record on the device, goes once to
 * where the creation says, and ends as whoever carried it out was told that it did.
 */
import type { EnvironmentPost } from '../../../services/environments/environment-transport.ts';
import type { HostEvent } from '../../../services/environments/host-stream.ts';
import type { Operation } from '../../../services/environments/operation.ts';
import type { EnvironmentWatcher, HostName } from '../environments-port.ts';
import type { DurableSessions } from './durable-sessions.ts';
import type { WrittenRecord } from './journal-bytes.ts';
import type { SessionLedger } from './session-ledger.ts';
import { expectThat, same } from './violation.ts';

type Plain = Readonly<Record<string, unknown>>;
type Named = Pick<Operation, 'session_id' | 'sequence'>;

const START_OF: Readonly<Record<string, string>> = {
  setup: 'environment_setup_started',
  invoke: 'tool_call_started',
  detach: 'environment_detach_started',
  teardown: 'environment_teardown_started',
};
/** What an environment may be asked while its session ends, and afterwards. */
const ASKED_AT_THE_END = new Set(['detach', 'teardown']);
/** Marks stand in what is answered, so that each answer is known again wherever it is recorded. */
const MARK = /answer-\d+/g;

/** An answer that an environment gave. */
interface Given {
  readonly operation: string;
  /** Whoever asked had been told before that the operation was stopped. */
  readonly isLate: boolean;
}

export class OperationChecks implements EnvironmentWatcher {
  readonly #sessions: DurableSessions;
  readonly #check: (check: () => void) => void;
  readonly #posted = new Set<string>();
  /** The process of a host that a command was written to first. */
  readonly #writtenTo = new Map<string, string>();
  readonly #given = new Map<string, Given>();
  /** Up to which record a session stood when somebody was told that it was stopped. */
  readonly #stopHeard = new Map<string, number>();
  /** The last record of each session when this process started. */
  #found = new Map<string, number>();
  /** How far each session's records were looked at. */
  readonly #lookedAt = new Map<string, number>();

  constructor(sessions: DurableSessions, check: (check: () => void) => void) {
    this.#sessions = sessions;
    this.#check = check;
  }

  posted({ url, headers }: EnvironmentPost, operation: Operation): void {
    this.#check(() => {
      const name = nameOf(operation);
      expectThat(!this.#posted.has(name), 3, () => `${whatOf(operation)} is sent again`);
      this.#posted.add(name);
      const ledger = this.#ledger(operation);
      if (ledger === null) return;
      const environment = environmentOf(ledger, operation.environment);
      expectThat(environment?.['driver'] === 'http' && url === `${String(environment['url'])}/v1/operations`, 15, () => `${whatOf(operation)} goes to ${url}, and the creation says otherwise`);
      expectThat(headers['Authorization'] === undefined, 15, () => `${whatOf(operation)} is sent with a credential, and the creation names none`);
      expectThat(headers['Idempotency-Key'] === name, 15, () => `${whatOf(operation)} has the key ${String(headers['Idempotency-Key'])}`);
      if (operation.request.type === 'cancel') this.#expectOver(ledger, operation, operation.request.target_sequence);
      else this.#expectStarted(ledger, operation);
    });
  }

  written(host: HostName, event: HostEvent): void {
    this.#check(() => {
      const process = `${host.tenant} ${host.host} ${host.incarnation}`;
      if (event.type === 'cancel') {
        const name = nameOf(event);
        expectThat(this.#writtenTo.get(name) === process, 3, () => `${process} is told to cancel ${name}, which it never had`);
        const ledger = this.#ledger(event);
        if (ledger !== null) this.#expectOver(ledger, event, event.sequence);
        return;
      }
      const { operation } = event;
      const name = nameOf(operation);
      const before = this.#writtenTo.get(name);
      expectThat(before === undefined || before === process, 3, () => `${whatOf(operation)} is told to ${process}, and was told to ${String(before)}`);
      this.#writtenTo.set(name, process);
      const ledger = this.#ledger(operation);
      if (ledger === null) return;
      const environment = environmentOf(ledger, operation.environment);
      const isIts = environment?.['driver'] === 'host' && environment['host'] === host.host && ledger.tenant === host.tenant;
      expectThat(isIts, 15, () => `${whatOf(operation)} is told to ${process}, and the creation says otherwise`);
      if (before === undefined) this.#expectStarted(ledger, operation);
    });
  }

  /** An environment is about to give this answer. */
  given(operation: Operation, mark: string): void {
    this.#given.set(mark, { operation: nameOf(operation), isLate: this.#isStopHeard(operation) });
  }

  /** Whoever reported this result was told that it was taken. `mark` null: there is nothing in it but that it is done. */
  taken(operation: Named, mark: string | null): void {
    this.#check(() => {
      const ledger = this.#ledger(operation);
      if (ledger === null) return;
      const end = endOf(ledger, operation.sequence);
      const marks: readonly string[] = JSON.stringify(end?.data ?? null).match(MARK) ?? [];
      const isIt = end !== undefined && (mark === null ? end.type.endsWith('_ended') : marks.includes(mark));
      expectThat(isIt, 12, () => `a result of ${nameOf(operation)} was taken, and the device holds ${end === undefined ? 'no end of it' : `another end: ${JSON.stringify(end.data)}`}`);
      if (end !== undefined) this.#sessions.shown(operation.session_id, end.sequence, 'a result that was taken');
    });
  }

  emitted(operation: Named, type: string): void {
    this.#check(() => {
      const ledger = this.#ledger(operation);
      if (ledger === null) return;
      const record = ledger.records.find(({ data }) => data['name'] === type);
      expectThat(same(record?.data['origin'], { kind: 'tool', sequence: operation.sequence }), 12, () => `an emit of ${nameOf(operation)} was taken, and the device holds no such event`);
      this.#sessions.shown(operation.session_id, record?.sequence ?? 0, 'an emit that was taken');
    });
  }

  /** A cancel, an interrupt or a close of this session is answered. */
  stopHeard(sessionId: string): void {
    this.#stopHeard.set(sessionId, this.#sessions.ledger(sessionId)?.last ?? 0);
  }

  /** The process is gone: this is what the next one finds. */
  died(found: ReadonlyMap<string, number>): void {
    this.#found = new Map(found);
  }

  /** Looks at the records that came since. */
  look(): void {
    for (const sessionId of this.#sessions.ids) {
      const ledger = this.#sessions.ledger(sessionId);
      if (ledger === null || this.#sessions.rotten.has(sessionId)) continue;
      const from = Math.min(this.#lookedAt.get(sessionId) ?? 0, ledger.last);
      this.#lookedAt.set(sessionId, ledger.last);
      for (const record of ledger.records.slice(from)) this.#expectItsAnswer(sessionId, record);
    }
  }

  /** A session is gone from the device. */
  removed(sessionId: string, ledger: SessionLedger): void {
    for (const [name, { standing, operations }] of ledger.environments) {
      const wasAsked = operations.some((sequence) => this.#wasSent({ session_id: sessionId, sequence }));
      expectThat(!wasAsked || standing === 'gone', 16, () => `session ${sessionId} is gone, and its environment ${name} is ${standing}`);
    }
  }

  #wasSent(operation: Named): boolean {
    const name = nameOf(operation);
    return this.#posted.has(name) || this.#writtenTo.has(name);
  }

  #ledger({ session_id }: Pick<Named, 'session_id'>): SessionLedger | null {
    if (this.#sessions.rotten.has(session_id)) return null;
    const ledger = this.#sessions.ledger(session_id);
    expectThat(ledger !== null || this.#sessions.leaving.has(session_id), 2, () => `an environment is asked of session ${session_id}, which the device does not hold`);
    return ledger;
  }

  #expectStarted(ledger: SessionLedger, operation: Operation): void {
    const { environment, request, sequence, session_id } = operation;
    const what = whatOf(operation);
    const started = ledger.records[sequence - 1];
    expectThat(started !== undefined && started.type === START_OF[request.type], 2, () => `${what} is sent, and the device holds no start of it`);
    if (started === undefined) return;
    expectThat(sequence > (this.#found.get(session_id) ?? 0), 5, () => `${what} is sent, and was started by an earlier process`);
    expectThat(ledger.open.has(sequence), 16, () => `${what} is sent, and its end is recorded`);
    const isEnding = ledger.state === 'ending' || ledger.state === 'ended';
    expectThat(!isEnding || ASKED_AT_THE_END.has(request.type), 16, () => `${what} is sent, and the session is ${ledger.state}`);
    if (request.type === 'invoke') this.#expectCall(ledger, operation, started);
    else expectThat(same([started.data['environment'], started.data['request']], [environment, request]), 15, () => `${what} is sent, and its record says otherwise`);
    if (request.type === 'setup') expectThat(same(request.configuration, environmentOf(ledger, environment)?.['configuration']), 15, () => `${what} has another configuration than the creation`);
  }

  #expectCall(ledger: SessionLedger, operation: Operation, { data }: WrittenRecord): void {
    const { request } = operation;
    if (request.type !== 'invoke') return;
    const tool = (ledger.created['tools'] as readonly Plain[]).find(({ name }) => name === request.tool);
    const expected = [data['tool'], tool?.['environment'], tool?.['configuration']];
    expectThat(same([request.tool, operation.environment, request.configuration], expected), 15, () => `${whatOf(operation)} calls ${request.tool}, and the records say otherwise`);
    const text = data['input_text'] as string;
    const input: unknown = data['input'] ?? (text === '' ? {} : JSON.parse(text));
    expectThat(same(request.input, input), 15, () => `${whatOf(operation)} has other arguments than its record`);
  }

  /** Who carries it out is told to stop after its end is recorded. */
  #expectOver(ledger: SessionLedger, told: Named, target: number): void {
    const end = endOf(ledger, target);
    expectThat(end !== undefined, 2, () => `${nameOf({ ...told, sequence: target })} is cancelled, and the device holds no end of it`);
    const isUnderItsName = told.sequence === target || told.sequence === end?.sequence;
    expectThat(isUnderItsName, 15, () => `a cancel has the name ${nameOf(told)}, and the end of ${target} is at ${String(end?.sequence)}`);
  }

  /** What is recorded as an answer was given to this operation, by whoever had it, while somebody waited. */
  #expectItsAnswer(sessionId: string, { type, sequence, data }: WrittenRecord): void {
    if (!/^(tool_call|environment_.*)_(ended|failed)$/.test(type)) return;
    const name = nameOf({ session_id: sessionId, sequence: data['started_sequence'] as number });
    for (const mark of JSON.stringify(data).match(MARK) ?? []) {
      const given = this.#given.get(mark);
      expectThat(given?.operation === name, 4, () => `record ${sequence} ${type} ends ${name} with ${mark}, which was given to ${String(given?.operation)}`);
      expectThat(given?.isLate !== true, 4, () => `record ${sequence} ${type} ends ${name} with ${mark}, which came after it was stopped`);
    }
  }

  #isStopHeard({ session_id, sequence }: Operation): boolean {
    const through = this.#stopHeard.get(session_id) ?? 0;
    const records = this.#sessions.ledger(session_id)?.records ?? [];
    const started = records[sequence - 1];
    const isStop = ({ type, data }: WrittenRecord): boolean => {
      if (started?.type === 'environment_setup_started') return type === 'session_end_requested' && data['mode'] === 'interrupt';
      return started?.type === 'tool_call_started' && type === 'turn_cancel_requested' && data['message_sequence'] === started.data['message_sequence'];
    };
    return records.slice(0, through).some(isStop);
  }
}

function environmentOf(ledger: SessionLedger, name: string): Plain | undefined {
  return (ledger.created['environments'] as readonly Plain[]).find((one) => one['name'] === name);
}

function endOf(ledger: SessionLedger, started: number): WrittenRecord | undefined {
  return ledger.records.find(({ type, data }) => !type.endsWith('_started') && data['started_sequence'] === started);
}

function nameOf({ session_id, sequence }: Named): string {
  return `${session_id}/${sequence}`;
}

function whatOf({ environment, request, ...name }: Operation): string {
  return `the ${request.type} ${nameOf(name)} of ${environment}`;
}
