/**
 * A tenant's sessions, and how each is shown now. To a tenant, another's session is none: `not_found`, word for word like
 * one that is not there.
 */
import type { SessionCreated } from '../machines/records.ts';
import type { Catalog, CatalogRow } from './catalog.ts';
import { creationOf } from './history.ts';
import { notFound } from './session-refusals.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { SessionView } from './session-service.ts';
import { viewOf } from './session-views.ts';

/** The tenant of whoever runs the server. */
const OPERATOR_TENANT = 'local';

export class TenantSessions {
  readonly #catalog: Catalog;
  readonly #registry: SessionRegistry;

  constructor(parts: { readonly catalog: Catalog; readonly registry: SessionRegistry }) {
    this.#catalog = parts.catalog;
    this.#registry = parts.registry;
  }

  /** The session's row. It is looked at first where nobody has since the start: reading it recovers it. */
  async row(tenant: string, sessionId: string): Promise<CatalogRow> {
    this.#registry.assertOpen();
    if (!this.#catalog.has(sessionId)) throw notFound();
    if (this.#catalog.row(sessionId) === null) await this.#recover(tenant, sessionId);
    const row = this.#catalog.row(sessionId);
    if (row?.tenant !== tenant) throw notFound();
    return row;
  }

  /** That of one which is there on the lifecycle surface: a session that is still being created is not. */
  async createdRow(tenant: string, sessionId: string): Promise<CatalogRow> {
    const row = await this.row(tenant, sessionId);
    if (row.state === 'creating') throw notFound();
    return row;
  }

  async view(tenant: string, sessionId: string): Promise<SessionView> {
    const row = await this.row(tenant, sessionId);
    const { data } = await this.#registry.read(sessionId, creationOf);
    // The read took its time: what is told is as of now.
    return this.#viewOf(sessionId, this.#catalog.row(sessionId) ?? row, data);
  }

  /** One that was created just now, whose creation need not be read. */
  async createdView(tenant: string, sessionId: string, created: SessionCreated): Promise<SessionView> {
    return this.#viewOf(sessionId, await this.row(tenant, sessionId), created);
  }

  /**
   * One that is refused is for its tenant to hear of, as far as its journal's beginning still says who that is; otherwise
   * for the operator. To everybody else it is none.
   */
  async #recover(tenant: string, sessionId: string): Promise<void> {
    try {
      await this.#registry.recover(sessionId);
    } catch (error) {
      // From then on nobody can read whose session it is: its own tenant must not be told that there is none.
      this.#registry.assertOpen();
      const owner = (await this.#registry.ownerOf(sessionId)) ?? OPERATOR_TENANT;
      throw owner === tenant ? error : notFound();
    }
  }

  #viewOf(sessionId: string, row: CatalogRow, created: SessionCreated): SessionView {
    return viewOf(sessionId, row, created, this.#registry.isResident(sessionId));
  }
}
