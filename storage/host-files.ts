/** Which process has each of a tenant's hosts: `hosts/{key}`. No token is in them. */
import type { DataDirectory } from './data-directory.ts';
import { WholeTenantFiles, type TenantFiles } from './tenant-files.ts';

export type HostFiles = TenantFiles;

export class TenantHostFiles extends WholeTenantFiles implements HostFiles {
  constructor(directory: DataDirectory) {
    super(directory, 'hosts');
  }
}
