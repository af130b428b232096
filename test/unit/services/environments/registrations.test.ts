import { describe, expect, it } from 'vitest';
import { HOSTS_KEPT_MAX } from '../../../../services/environments/known-hosts.ts';
import { Registrations } from '../../../../services/environments/registrations.ts';
import { MemoryTenantFiles } from '../../../../storage/memory-tenant-files.ts';

async function added(files: MemoryTenantFiles, hosts: readonly string[], incarnations: readonly string[]): Promise<Registrations> {
  const registrations = new Registrations(files);
  let issuedAt = 0;
  for (const host of hosts) {
    for (const incarnation of incarnations) await registrations.add({ tenant: 'red', host, incarnation, issuedAt: (issuedAt += 1) });
  }
  return registrations;
}

describe('the registrations of hosts', () => {
  it('are the newest of each host with the last that lost it, as another process of the server reads them', async () => {
    const files = new MemoryTenantFiles();
    await added(files, ['mill'], Array.from({ length: 20 }, (_, index) => `process-${index}`));
    const kept = await new Registrations(files).of('red', 'mill');
    expect(kept).toMatchObject({ incarnation: 'process-19', issued_at: 20 });
    expect(kept?.former).toEqual(Array.from({ length: 8 }, (_, index) => `process-${index + 11}`));
    expect(await new Registrations(files).of('blue', 'mill')).toBeNull();
  });

  it('are not changed by one that is older', async () => {
    const registrations = await added(new MemoryTenantFiles(), ['mill'], ['first', 'second']);
    await registrations.add({ tenant: 'red', host: 'mill', incarnation: 'first', issuedAt: 1 });
    expect(await registrations.of('red', 'mill')).toMatchObject({ incarnation: 'second', former: ['first'] });
  });

  it('are kept of so many hosts of a tenant, those that were registered last', async () => {
    const files = new MemoryTenantFiles();
    await added(files, Array.from({ length: HOSTS_KEPT_MAX + 1 }, (_, index) => `host-${index}`), ['first']);
    const registrations = new Registrations(files);
    expect([await registrations.of('red', 'host-0'), await registrations.of('red', 'host-1')]).toMatchObject([null, { incarnation: 'first' }]);
  });

  it('are refused, and stay as they are, where their file says something else', async () => {
    const files = new MemoryTenantFiles();
    await files.replace('red', Buffer.from('{"version":2,"hosts":[]}'));
    const registrations = new Registrations(files);
    await expect(registrations.add({ tenant: 'red', host: 'mill', incarnation: 'first', issuedAt: 1 })).rejects.toThrow('do not read back');
    expect(Buffer.from((await files.read('red')) ?? []).toString()).toBe('{"version":2,"hosts":[]}');
  });
});
