/** The name of a tenant's files: the name of the tenant itself may be anything, and would lead anywhere as a path. */
import { createHash } from 'node:crypto';

const HEX_DIGITS = 32;

export function tenantKey(tenant: string): string {
  return createHash('sha256').update(tenant, 'utf8').digest('hex').slice(0, HEX_DIGITS);
}
