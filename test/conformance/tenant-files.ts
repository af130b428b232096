/** What every keeper of one whole file of each tenant must do. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CredentialFiles } from '../../storage/credential-files.ts';

export interface TenantFilesUnderTest {
  readonly files: CredentialFiles;
  dispose(): Promise<void>;
}

export function describeTenantFiles(name: string, make: () => Promise<TenantFilesUnderTest>): void {
  describe(`tenants' files (${name})`, () => {
    let tested: TenantFilesUnderTest;

    beforeEach(async () => {
      tested = await make();
    });
    afterEach(() => tested.dispose());

    it('are the last that was written, whatever its bytes', async () => {
      const { files } = tested;
      expect([await files.read('local'), await files.hasAny()]).toEqual([null, false]);

      await files.replace('local', Buffer.from('first'));
      const bytes = Buffer.from([0, 255, 0]);
      await files.replace('local', bytes);
      bytes.fill(1);

      expect([...((await files.read('local')) ?? [])]).toEqual([0, 255, 0]);
      expect(await files.hasAny()).toBe(true);
    });

    it('are each tenant\'s own, whatever they are called', async () => {
      const { files } = tested;
      const names = ['local', 'Local', '../local', '', '__proto__', 'a/b', '你好'];

      for (const [index, tenant] of names.entries()) await files.replace(tenant, Buffer.from([index]));

      for (const [index, tenant] of names.entries()) expect([...((await files.read(tenant)) ?? [])]).toEqual([index]);
      expect(await files.read('other')).toBeNull();
    });
  });
}
