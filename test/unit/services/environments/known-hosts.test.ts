import { beforeEach, describe, expect, it } from 'vitest';
import type { OperationCall } from '../../../../services/environments/operation.ts';
import { HOSTS_KEPT_MAX, KnownHosts } from '../../../../services/environments/known-hosts.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const RED = 'red';
const CALL: OperationCall = {
  tenant: RED,
  environment: { name: 'shop', driver: 'host', host: 'press', configuration: {} },
  operation: { session_id: 'ab'.repeat(16), environment: 'shop', sequence: 7, request: { type: 'detach' } },
  credential: null,
  listener: null,
};

let hosts: KnownHosts;

beforeEach(() => {
  hosts = new KnownHosts(new SimulatedClock());
});

function makeUpNames(count: number): void {
  for (let index = 0; index < count; index += 1) hosts.of(RED, `made-up-${index}`);
}

describe('the names of hosts', () => {
  it('are kept up to a bound, each tenant\'s most recently used, though anybody makes up any number', () => {
    const [mill, press, blue] = [hosts.of(RED, 'mill'), hosts.of(RED, 'press'), hosts.of('blue', 'mill')];
    makeUpNames(HOSTS_KEPT_MAX - 2);
    expect(hosts.of(RED, 'mill')).toBe(mill);
    hosts.of(RED, 'one-more');

    expect(hosts.of(RED, 'mill')).toBe(mill);
    expect(hosts.of(RED, 'press')).not.toBe(press);
    expect(hosts.of('blue', 'mill')).toBe(blue);
  });

  it('stay known for as long as a process is connected or a command is open', async () => {
    const [mill, press] = [hosts.of(RED, 'mill'), hosts.of(RED, 'press')];
    const stream = mill.connect();
    const sent = press.send(CALL);
    makeUpNames(2 * HOSTS_KEPT_MAX);
    expect([hosts.of(RED, 'mill') === mill, hosts.of(RED, 'press') === press]).toEqual([true, true]);

    mill.disconnect(stream);
    await sent.close(null);
    makeUpNames(2 * HOSTS_KEPT_MAX);
    expect([hosts.of(RED, 'mill') === mill, hosts.of(RED, 'press') === press]).toEqual([false, false]);
  });
});
