/** Steps of the environments that are reached over HTTP, of who declares them, and of the sessions that have some. */
import type { PostOutcome } from '../../services/environments/environment-transport.ts';
import { ENVIRONMENT_CONTRACT, type FinalReceipt, type Operation, type Receipt } from '../../services/environments/operation.ts';
import type { SessionLedger } from './auditor/session-ledger.ts';
import type { Detail } from './choices.ts';
import { ask, newSession } from './client-steps.ts';
import { declarationOf, ENVIRONMENT_NAMES, TOOL_OF, type EnvironmentName } from './environment-declarations.ts';
import type { PendingPost } from './environments-port.ts';
import { codeOf } from './error-codes.ts';
import { TENANTS, type Request } from './request.ts';
import { PUBLIC_URL } from './server-process.ts';
import { ENVIRONMENT_PROGRAMS } from './test-loop.ts';
import type { World } from './world.ts';

type Names = readonly [EnvironmentName, ...EnvironmentName[]];

const CHOSEN: readonly [Names, ...Names[]] = [['web'], ['mill'], ENVIRONMENT_NAMES];

export function declareEnvironment(world: World, detail: Detail): boolean {
  const name = detail.of(ENVIRONMENT_NAMES);
  const tenant = detail.of(TENANTS);
  const isDelete = world.auditor.declared.mayStand(tenant, name) && detail.below(4) === 3;
  return declare(world, { tenant, name, isDelete });
}

function declare(world: World, { tenant, name, isDelete }: { readonly tenant: string; readonly name: EnvironmentName; readonly isDelete: boolean }): boolean {
  const { brain, server } = world;
  if (brain === null) return false;
  world.count += 1;
  const version = isDelete ? null : world.count;
  const what = `${version === null ? 'deletes' : `declares version ${version} of`} the environment ${name} of ${tenant}`;
  world.say(`client: ${what}`);
  const { declared } = world.auditor;
  declared.asked(tenant, name, version);
  const asked = version === null ? brain.environments.delete(tenant, name) : brain.environments.put(tenant, name, declarationOf(name, version)).then(() => undefined);
  const settled = (isDone: boolean, code: string | null): void => {
    if (world.server !== server) return;
    world.asking.delete(what);
    declared.settled(tenant, name, version, isDone);
    // `invalid_request`: looking at a schema has a bound in real time, which a machine that is busy otherwise may not keep.
    const isExcused = code === null || world.auditor.excuses.isOfDisk(code) || code === (version === null ? 'not_found' : 'invalid_request');
    world.auditor.expect(isExcused, 11, () => `client ${what}, and hears ${String(code)}`);
  };
  world.asking.add(what);
  void asked.then(
    () => settled(true, null),
    (error: unknown) => settled(false, codeOf(error)),
  );
  return true;
}

/** A session that has environments, where they are declared. */
export function createInEnvironments(world: World, detail: Detail): boolean {
  const [mostly, other] = TENANTS;
  const tenant = detail.of([mostly, mostly, other]);
  const names = detail.of(CHOSEN);
  const missing = names.filter((name) => !world.auditor.declared.mayStand(tenant, name));
  if (missing.length > 0 && detail.below(8) < 7) return missing.map((name) => declare(world, { tenant, name, isDelete: false })).some(Boolean);
  return newSession(world, { tenant, environments: names }, detail);
}

/** A message to a session with environments, whose loop or model calls them. */
export function workInEnvironments(world: World, detail: Detail): boolean {
  const taking = withEnvironments(world, ['idle', 'suspended']);
  const sessionId = taking[detail.below(taking.length)];
  if (sessionId === undefined) return createInEnvironments(world, detail);
  world.messageCount += 1;
  const body = `m${world.messageCount}|${detail.of(ENVIRONMENT_PROGRAMS)}`;
  return ask(world, { route: detail.of<Request['route']>(['submit', 'queue']), sessionId, key: null, body }, detail);
}

/** Whoever has a session with environments wants no more of it. */
export function leaveEnvironments(world: World, detail: Detail): boolean {
  const ids = withEnvironments(world, null);
  const sessionId = ids[detail.below(ids.length)];
  if (sessionId === undefined) return createInEnvironments(world, detail);
  const route = detail.of(routesOutOf(world.auditor.sessions.ledger(sessionId)));
  world.count += 1;
  // A delete that failed is asked again under another key.
  const key = route !== 'get' && detail.below(3) === 2 ? `k${world.count}` : null;
  return ask(world, { route, sessionId, key, body: '' }, detail);
}

function routesOutOf(ledger: SessionLedger | null): readonly [Request['route'], ...Request['route'][]] {
  switch (ledger?.state) {
    case 'unusable':
      // An end passes a delete that tears down.
      return ledger.open.size > 0 ? ['end', 'close', 'delete'] : ['delete', 'delete', 'delete', 'end'];
    case 'ended':
      return ['delete', 'delete', 'delete', 'end'];
    case 'failed':
      return ['delete', 'close', 'end'];
    default:
      return ['close', 'end', 'get', 'cancel', 'delete'];
  }
}

/** A model calls tools of environments. */
export function askForEnvironmentTools(world: World, detail: Detail): boolean {
  const calls = world.effects.pending.filter((effect) => effect.kind === 'model');
  const call = calls[detail.below(calls.length)];
  if (call?.kind !== 'model') return false;
  const names = detail.of(CHOSEN).map((name) => TOOL_OF[name]);
  world.say(`the model of ${call.request.model.name} asks for ${names.join(' and ')}`);
  world.effects.remove(call);
  const content = names.map((name, index) => ({ type: 'tool_use' as const, id: `env_${index}`, name, input_text: '{"b":2}' }));
  call.answer({ outcome: 'ended', message: { role: 'assistant', content }, finish_reason: 'tool_calls' });
  return true;
}

/** An environment over HTTP answers, or something goes wrong on the way. */
export function answerPost(world: World, detail: Detail): boolean {
  const { environments } = world;
  const pending = environments.pending[detail.below(environments.pending.length)];
  // Where nothing waits for an answer somebody asks.
  if (pending === undefined) return workInEnvironments(world, detail);
  const late = pending.post.signal.aborted ? ', after it was given up' : '';
  const say = (what: string): void => {
    world.say(`${nameOf(world, pending.operation)} ${what}${late}`);
    world.coverage.failure(`environment: ${what}`);
  };
  const kind = detail.below(16);
  // Mostly it goes well. A call is rather taken on then: only what is reported later can come at a bad moment.
  if ((kind === 1 || kind >= 12) && pending.operation.request.type === 'invoke') {
    say('is taken on');
    receive(world, pending, { type: 'accepted' });
    return true;
  }
  switch (kind) {
    case 0:
    case 1:
    case 12:
    case 13:
    case 14:
    case 15:
      say('is done');
      done(world, pending);
      return true;
    case 2:
      say('arrives');
      environments.arrive(pending);
      return true;
    case 3: {
      say('is taken on');
      receive(world, pending, { type: 'accepted' });
      return true;
    }
    case 4:
      say('fails');
      receive(world, pending, { type: 'failure', code: 'no', message: mark(world, pending.operation), retryable: detail.below(2) === 1 });
      return true;
    case 5:
      say('ends unknown');
      receive(world, pending, { type: 'unknown', message: mark(world, pending.operation) });
      return true;
    case 6:
      if (pending.hasArrived) return false;
      say('is refused a connection');
      environments.answer(pending, { kind: 'not_sent', reason: 'connection refused' });
      return true;
    case 7:
      say('arrives, and its answer breaks off');
      lose(world, pending);
      return true;
    case 8:
      say('is answered under another sequence');
      respond(world, pending, { sequence: pending.operation.sequence + 1, receipt: { type: 'result', output: mark(world, { ...pending.operation, sequence: -1 }) } });
      return true;
    case 9:
      say('is answered in another contract');
      respond(world, pending, { contract: 'environment/v2', receipt: { type: 'result', output: mark(world, { ...pending.operation, sequence: -1 }) } });
      return true;
    case 10: {
      const status = detail.of([500, 401, 403, 404, 302]);
      say(`is answered with the status ${status}`);
      environments.arrive(pending);
      environments.answer(pending, { kind: 'answered', status, text: '' });
      return true;
    }
    default:
      say('is done with a result');
      receive(world, pending, { type: 'result', output: mark(world, pending.operation) });
      return true;
  }
}

/** The plainest answer, for the end of a run. */
export function answerPostPlainly(world: World): boolean {
  const [pending] = world.environments.pending;
  if (pending === undefined) return false;
  done(world, pending);
  return true;
}

/** An environment reports back of its own accord: at any time, again, and for what is long over. */
export function reportBack(world: World, detail: Detail): boolean {
  const { sessions } = world.auditor;
  const open = world.environments.reporting.filter(({ session_id, sequence }) => sessions.ledger(session_id)?.open.has(sequence) === true);
  const reporting = open.length > 0 && detail.below(4) < 3 ? open : world.environments.reporting;
  const operation = reporting.at(-1 - detail.below(Math.min(3, reporting.length)));
  const server = world.server;
  if (operation === undefined) return answerPost(world, detail);
  if (operation.callback === undefined || server === null) return false;
  const { callbacks } = server;
  const { session_id: sessionId, sequence, callback } = operation;
  const name = { sessionId, sequence };
  world.auditor.expect(callback.url === `${PUBLIC_URL}/v1/callbacks/${sessionId}/${sequence}`, 15, () => `the callback of ${sessionId}/${sequence} is ${callback.url}`);
  world.auditor.expect(callbacks.isToken(name, callback.token), 15, () => `the token of ${sessionId}/${sequence} does not count`);
  world.auditor.expect(!callbacks.isToken({ sessionId, sequence: sequence + 1 }, callback.token), 15, () => `the token of ${sessionId}/${sequence} counts for the operation after it`);
  const what = nameOf(world, operation);
  switch (detail.below(6)) {
    case 0:
    case 1:
    case 2: {
      const answer = mark(world, operation);
      const receipt = detail.of<FinalReceipt>([
        { type: 'result', output: answer },
        { type: 'failure', code: 'no', message: answer, retryable: false },
        { type: 'unknown', message: answer },
      ]);
      world.say(`${what} reports ${receipt.type} ${answer}`);
      whenAnswered(world, `${what} reports ${answer}`, callbacks.result(name, receipt), () => world.auditor.environments.taken(operation, answer));
      return true;
    }
    case 3:
    case 4: {
      world.count += 1;
      const type = `acme.e${world.count}`;
      world.say(`${what} emits ${type} to its callback`);
      whenAnswered(world, `${what} emits ${type}`, callbacks.emit(name, type, { a: 1 }), () => world.auditor.environments.emitted(operation, type));
      return true;
    }
    default:
      world.count += 1;
      world.say(`${what} reports how far it is`);
      whenAnswered(world, `${what} reports progress ${world.count}`, callbacks.progress(name, { message: 'half', fraction: 0.5 }), () => undefined);
      return true;
  }
}

/** What an environment says is known again by this, wherever it is recorded. */
export function mark(world: World, operation: Operation): string {
  world.count += 1;
  const text = `answer-${world.count}`;
  world.auditor.environments.given(operation, text);
  return text;
}

export function nameOf(world: World, { request, environment, session_id, sequence }: Operation): string {
  return `${request.type} ${sequence} in ${environment} of ${world.labelOf(session_id)}`;
}

/** Something that is asked of the server beside sessions; `asked` rejects, or resolves with the code that it was refused with. */
export function whenAnswered(world: World, what: string, asked: Promise<string | null | void>, taken: () => void): void {
  const { server } = world;
  world.asking.add(what);
  const settled = (code: string | null): void => {
    if (world.server !== server) return;
    world.asking.delete(what);
    if (code === null) taken();
    else world.auditor.expect(world.auditor.excuses.isOfReport(code), 11, () => `${what}, and hears ${code}`);
  };
  void asked.then(
    (code) => settled(code ?? null),
    (error: unknown) => settled(codeOf(error)),
  );
}

function withEnvironments(world: World, states: readonly string[] | null): readonly string[] {
  const { sessions } = world.auditor;
  return sessions.ids.filter((id) => {
    const ledger = sessions.ledger(id);
    return ledger !== null && ledger.environments.size > 0 && states?.includes(ledger.state) !== false;
  });
}

function done(world: World, pending: PendingPost): void {
  const isCall = pending.operation.request.type === 'invoke';
  receive(world, pending, isCall ? { type: 'result', output: mark(world, pending.operation) } : { type: 'accepted' });
}

function receive(world: World, pending: PendingPost, receipt: Receipt): void {
  respond(world, pending, { receipt });
}

function respond(world: World, pending: PendingPost, { contract = ENVIRONMENT_CONTRACT, sequence = pending.operation.sequence, receipt }: { readonly contract?: string; readonly sequence?: number; readonly receipt: Receipt }): void {
  world.environments.arrive(pending);
  answer(world, pending, { kind: 'answered', status: 200, text: JSON.stringify({ contract, sequence, receipt }) });
}

function lose(world: World, pending: PendingPost): void {
  world.environments.arrive(pending);
  answer(world, pending, { kind: 'lost', reason: 'the connection was reset' });
}

function answer(world: World, pending: PendingPost, outcome: PostOutcome): void {
  world.environments.answer(pending, outcome);
}
