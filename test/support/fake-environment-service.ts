/** An `EnvironmentService` that notes what it is asked. It knows one environment, `known`. */
import { ServiceError } from '../../services/errors.ts';
import type { Declaration } from '../../services/environments/declaration.ts';
import type { EnvironmentService, EnvironmentView } from '../../services/environments/declarations.ts';

const KNOWN: EnvironmentView = {
  name: 'known',
  driver: 'http',
  url: 'https://tools.example',
  configuration: {},
  tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' }, effect: 'once' }],
  created_at: 1_767_268_800_999,
  updated_at: 1_767_268_860_000,
};

export class FakeEnvironmentService implements EnvironmentService {
  readonly calls: (readonly unknown[])[] = [];

  async put(tenant: string, name: string, declaration: Declaration): Promise<EnvironmentView> {
    this.calls.push(['put', tenant, name, declaration]);
    return { ...KNOWN, name };
  }

  async get(tenant: string, name: string): Promise<EnvironmentView> {
    this.calls.push(['get', tenant, name]);
    if (name !== 'known') throw new ServiceError('not_found', 'there is no such environment');
    return KNOWN;
  }

  async list(tenant: string): Promise<readonly EnvironmentView[]> {
    this.calls.push(['list', tenant]);
    return [KNOWN];
  }

  async delete(tenant: string, name: string): Promise<void> {
    this.calls.push(['delete', tenant, name]);
    if (name !== 'known') throw new ServiceError('not_found', 'there is no such environment');
  }
}
