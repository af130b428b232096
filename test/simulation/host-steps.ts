/** Steps of the processes that have the names of hosts: they come, take what they are told, answer it, and vanish. */
import type { Operation, Receipt } from '../../services/environments/operation.ts';
import type { Detail } from './choices.ts';
import { HOST_NAMES } from './environment-declarations.ts';
import { mark, nameOf, whenAnswered } from './environment-steps.ts';
import { HostProcess } from './environments-port.ts';
import { TENANTS } from './request.ts';
import type { World } from './world.ts';

// Of one name a few processes are enough to be told apart.
const PROCESSES_MAX = 6;

export function moveHost(world: World, detail: Detail): boolean {
  const { server } = world;
  const { hosts } = world.environments;
  const host = hosts[detail.below(hosts.length)];
  const asked = askedHosts(world);
  const missing = asked.filter((one) => !hosts.some(({ host: name, tenant }) => name === one.host && tenant === one.tenant));
  const isNew = host === undefined || missing.length > 0 || detail.below(3) === 2;
  if (isNew) {
    if (server === null || hosts.length >= PROCESSES_MAX) return false;
    // Mostly a name that some session asks for, whether or not another process has it.
    const wanted = missing.length > 0 ? missing : asked;
    const name = wanted[detail.below(wanted.length)] ?? { tenant: detail.of(TENANTS), host: detail.of(HOST_NAMES) };
    world.count += 1;
    const next = new HostProcess({ ...name, incarnation: `p${world.count}` }, world.environments.watcher);
    next.isSlow = detail.below(3) === 2;
    hosts.push(next);
    come(world, next, false);
    return true;
  }
  switch (detail.below(4)) {
    case 0:
    case 1:
      if (host.status === 'connected' && host.isSlow) {
        world.say(`${wordsOf(host)} takes what comes next`);
        void host.take();
        return true;
      }
      if (server === null || host.status === 'coming') return false;
      come(world, host, detail.below(3) === 2);
      return true;
    case 2:
      if (host.status === 'away') return false;
      world.say(`${wordsOf(host)} vanishes`);
      world.coverage.failure('host: vanishes');
      host.lose();
      return true;
    default:
      world.say(`${wordsOf(host)} ends for good`);
      world.coverage.failure('host: ends');
      host.lose();
      hosts.splice(hosts.indexOf(host), 1);
      return true;
  }
}

/** The hosts that sessions have. */
function askedHosts(world: World): readonly { readonly tenant: string; readonly host: string }[] {
  const { sessions } = world.auditor;
  return sessions.ids.flatMap((id) => {
    const ledger = sessions.ledger(id);
    const environments = (ledger?.created['environments'] ?? []) as readonly { readonly host?: string }[];
    return environments.flatMap(({ host }) => (host === undefined ? [] : [{ tenant: world.tenantOf(id), host }]));
  });
}

function come(world: World, host: HostProcess, registersAnew: boolean): void {
  const { server } = world;
  if (server === null) return;
  world.count += 1;
  const what = `${wordsOf(host)} comes, ${world.count}`;
  world.say(`${wordsOf(host)} ${registersAnew ? 'registers and ' : ''}comes for its commands`);
  // `conflict`: another process took its name.
  whenAnswered(world, what, host.come(server, registersAnew), () => undefined);
}

/** A process of a host answers a command: its own, or one that another was given; now, late, or twice. */
export function answerCommand(world: World, detail: Detail): boolean {
  const { server } = world;
  const { hosts } = world.environments;
  const busy = hosts.filter(({ commands }) => commands.size > 0);
  const host = busy[detail.below(busy.length)];
  if (host === undefined) return moveHost(world, detail);
  if (server === null) return false;
  const isForAnother = detail.below(10) === 9;
  const commands = isForAnother ? hosts.flatMap((one) => [...one.commands.values()]) : [...host.commands.values()];
  const operation = commands.at(-1 - detail.below(Math.min(3, commands.length)));
  if (operation === undefined) return false;
  const what = `${wordsOf(host)}: ${nameOf(world, operation)}`;
  const isCall = operation.request.type === 'invoke';
  const kind = detail.below(8);
  if (kind === 6 || kind === 7) {
    world.count += 1;
    const type = `acme.e${world.count}`;
    world.say(`${what} ${kind === 6 ? `emits ${type}` : 'tells how far it is'}`);
    if (kind === 7) whenAnswered(world, `${what} progress ${world.count}`, host.progress(server, operation), () => undefined);
    else whenAnswered(world, `${what} emits ${type}`, host.emit(server, operation, type), () => world.auditor.environments.emitted(operation, type));
    return true;
  }
  const text = mark(world, operation);
  const receipt = receiptOf(kind, isCall, text);
  world.say(`${what} is answered with ${receipt.type} ${text}`);
  world.coverage.failure(`host: ${receipt.type}`);
  report(world, { host, operation, receipt, text });
  return true;
}

/** Whatever a connected process has is done, for the end of a run. True where something was said. */
export function answerCommandsPlainly(world: World): boolean {
  const { server } = world;
  if (server === null) return false;
  for (const host of world.environments.hosts) {
    if (host.isSlow) void host.take();
    if (host.status !== 'connected') continue;
    for (const [key, operation] of host.commands) {
      host.commands.delete(key);
      const text = mark(world, operation);
      report(world, { host, operation, receipt: { type: 'result', output: text }, text });
      return true;
    }
  }
  return false;
}

function report(world: World, { host, operation, receipt, text }: { readonly host: HostProcess; readonly operation: Operation; readonly receipt: Receipt; readonly text: string }): void {
  const { server } = world;
  if (server === null) return;
  whenAnswered(world, `${wordsOf(host)} answers ${nameOf(world, operation)} with ${text}`, host.report(server, operation, receipt), () => {
    world.auditor.environments.taken(operation, receipt.type === 'accepted' ? null : text);
  });
}

function receiptOf(kind: number, isCall: boolean, text: string): Receipt {
  switch (kind) {
    case 3:
      return { type: 'failure', code: 'no', message: text, retryable: true };
    case 4:
      return { type: 'unknown', message: text };
    case 5:
      return { type: 'accepted' };
    default:
      return isCall || kind === 2 ? { type: 'result', output: text } : { type: 'accepted' };
  }
}

function wordsOf({ tenant, host, incarnation }: HostProcess): string {
  return `process ${incarnation} of the host ${host} of ${tenant}`;
}
