/** A `CredentialService` that notes what it is asked. It knows one credential, `known`. */
import type { CredentialService, CredentialView } from '../../services/credentials.ts';
import { ServiceError } from '../../services/errors.ts';

export class FakeCredentialService implements CredentialService {
  readonly calls: (readonly unknown[])[] = [];

  async put(tenant: string, name: string, value: string): Promise<void> {
    this.calls.push(['put', tenant, name, value]);
  }

  async list(tenant: string): Promise<readonly CredentialView[]> {
    this.calls.push(['list', tenant]);
    return [{ name: 'known', updated_at: 1_767_268_800_999 }];
  }

  async delete(tenant: string, name: string): Promise<void> {
    this.calls.push(['delete', tenant, name]);
    if (name !== 'known') throw new ServiceError('not_found', 'there is no such credential');
  }
}
