/** Environments in the test's own process: each operation is answered by a script, or waits for the test. */
import type { ResolvedEnvironment, Sequence } from '../../machines/records.ts';
import type { EnvironmentDriver, EnvironmentDrivers, OperationCall, Receipt } from '../../services/environments/operation.ts';
import { Arrivals } from './arrivals.ts';

type DriverName = ResolvedEnvironment['driver'];

/** An operation as its driver was given it, and what the test does about it. */
export interface SentToEnvironment {
  readonly driver: DriverName;
  readonly call: OperationCall;
  /** What `atDeadline` and `mayHaveArrived` say. At first: it arrived, and nothing is known of its end but the time. */
  atDeadline: 'timeout' | 'unknown';
  mayHaveArrived: boolean;
  /** What each `close` was called with. */
  readonly closes: readonly (Sequence | null)[];
  /** What its driver was told of the record of its receipt: that it is there, or the code with which it failed. */
  readonly records: string[];
  /** Resolves when its executor is known to have stopped: until then `close` does not. At once, unless the test says otherwise. */
  stops: Promise<void>;
  /** The first answer counts. A test may give another, which goes nowhere. */
  answer(receipt: Receipt): void;
}

/** Answers at once, or `waits`: then the test answers, or nobody does. */
export type EnvironmentScript = (sent: SentToEnvironment) => Receipt | 'waits';

export const ACCEPTED: Receipt = { type: 'accepted' };

export function failure(code: string, message = `the environment said ${code}`): Receipt {
  return { type: 'failure', code, message, retryable: false };
}

export function unknown(message = 'the connection was lost'): Receipt {
  return { type: 'unknown', message };
}

/** Every setup, detach and teardown is done, and every tool answers `done`. */
export const willing: EnvironmentScript = ({ call }) =>
  call.operation.request.type === 'invoke' ? { type: 'result', output: 'done' } : ACCEPTED;

export class ScriptedEnvironments implements EnvironmentDrivers {
  readonly sent = new Arrivals<SentToEnvironment>('operations sent');
  readonly http: EnvironmentDriver = { send: (call) => this.#send('http', call) };
  readonly host: EnvironmentDriver = { send: (call) => this.#send('host', call) };
  script: EnvironmentScript;

  constructor(script: EnvironmentScript = willing) {
    this.script = script;
  }

  /** The requests that were sent, in their order: the environment, and what it was asked. */
  get asked(): readonly string[] {
    return this.sent.all.map(({ call: { operation } }) => `${operation.request.type} ${operation.environment}`);
  }

  /** The names of the operations that were sent more than once: their session and sequence. */
  get sentTwice(): readonly string[] {
    const names = this.sent.all.map(({ call: { operation } }) => `${operation.session_id}/${operation.sequence}`);
    return names.filter((name, index) => names.indexOf(name) !== index);
  }

  /** The first of a kind that an environment was sent, as soon as it is there. */
  first(type: OperationCall['operation']['request']['type'], environment?: string): Promise<SentToEnvironment> {
    return this.sent.first(
      ({ call: { operation } }) => operation.request.type === type && (environment === undefined || operation.environment === environment),
      `${type} ${environment ?? ''}`,
    );
  }

  #send(driver: DriverName, call: OperationCall): ReturnType<EnvironmentDriver['send']> {
    const closes: (Sequence | null)[] = [];
    let answer: (receipt: Receipt) => void = () => undefined;
    const receipt = new Promise<Receipt>((resolve) => {
      answer = resolve;
    });
    const sent: SentToEnvironment = {
      driver,
      call,
      atDeadline: 'timeout',
      mayHaveArrived: true,
      closes,
      records: [],
      stops: Promise.resolve(),
      answer,
    };
    this.sent.add(sent);
    const answered = this.script(sent);
    if (answered !== 'waits') answer(answered);
    return {
      receipt,
      atDeadline: () => sent.atDeadline,
      mayHaveArrived: () => sent.mayHaveArrived,
      recorded: (failure) => void sent.records.push(failure?.code ?? 'recorded'),
      close: async (cancelAs) => {
        closes.push(cancelAs);
        await sent.stops;
      },
    };
  }
}
