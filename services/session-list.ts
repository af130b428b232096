/** A tenant's sessions in pages, by id: those that match, and those that are damaged and named as such. */
import type { Catalog, CatalogRow } from './catalog.ts';
import { serviceError } from './session-refusals.ts';
import type { DamagedSessionView, ListQuery, SessionPage, SessionView } from './session-service.ts';
import { lifecycleStatusOf, statusOf } from './session-views.ts';
import type { TenantSessions } from './tenant-sessions.ts';

export type ListFilter = Pick<ListQuery, 'status' | 'lifecycle' | 'metadata'>;

export async function sessionPage(
  { catalog, sessions }: { readonly catalog: Catalog; readonly sessions: TenantSessions },
  tenant: string,
  { after, limit, session_id: only, ...filter }: ListQuery,
): Promise<SessionPage> {
  const ids = only === undefined ? catalog.idsAfter(after) : [only].filter((id) => id > after);
  return pageOf(ids, limit, (sessionId) => listedSession(sessions, tenant, sessionId, filter));
}

/** The first of those for which `listed` has something to show, `limit` at the most. A `limit` is 1 at least. */
export async function pageOf<T>(
  all: Iterable<T>,
  limit: number,
  listed: (one: T) => Promise<SessionView | DamagedSessionView | null>,
): Promise<SessionPage> {
  const sessions: (SessionView | DamagedSessionView)[] = [];
  for (const one of all) {
    const session = await listed(one);
    if (session === null) continue;
    // Only a session that is shown makes another page: there is nothing to learn from anybody else's.
    if (sessions.length === limit) return { sessions, next_cursor: sessions.at(-1)?.session_id ?? null };
    sessions.push(session);
  }
  return { sessions, next_cursor: null };
}

/** Null where it is not this tenant's or not asked for, or was deleted meanwhile. */
async function listedSession(
  sessions: TenantSessions,
  tenant: string,
  sessionId: string,
  filter: ListFilter,
): Promise<SessionView | DamagedSessionView | null> {
  try {
    if (!matches(await sessions.row(tenant, sessionId), filter)) return null;
    return await sessions.view(tenant, sessionId);
  } catch (error) {
    const answer = serviceError(error);
    if (answer.code === 'not_found') return null;
    // One session's damage, or a disk that fails under it, takes no other off the list.
    if (answer.code === 'journal_corrupt') return { session_id: sessionId, damaged: true, message: answer.message };
    if (answer.code !== 'journal_unavailable' && answer.code !== 'disk_full') throw answer;
    return { session_id: sessionId, damaged: true, message: 'the journal cannot be read now, since the disk fails under it' };
  }
}

export function matches(row: CatalogRow, { status, lifecycle, metadata = {} }: ListFilter): boolean {
  if (lifecycle !== undefined && !matchesLifecycle(row, lifecycle)) return false;
  if (status !== undefined && statusOf(row.state) !== status) return false;
  return Object.entries(metadata).every(([name, value]) => Object.hasOwn(row.metadata, name) && row.metadata[name] === value);
}

function matchesLifecycle(row: CatalogRow, { status }: NonNullable<ListQuery['lifecycle']>): boolean {
  const actual = lifecycleStatusOf(row.state);
  return actual !== null && (status === undefined || status === actual);
}
