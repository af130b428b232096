/** The environments that tenants declared: `environments/{key}`. No secret is in them. */
import type { DataDirectory } from './data-directory.ts';
import { WholeTenantFiles, type TenantFiles } from './tenant-files.ts';

export type EnvironmentFiles = TenantFiles;

export class TenantEnvironmentFiles extends WholeTenantFiles implements EnvironmentFiles {
  constructor(directory: DataDirectory) {
    super(directory, 'environments');
  }
}
