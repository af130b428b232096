/** What a create is answered with: a reading of the session's journal as it was when its creation was over. */
import type { Journal } from '../storage/journal.ts';
import { setupFailure } from './environments/environment-failures.ts';
import type { ServiceError } from './errors.ts';
import { recordsOf } from './history.ts';
import { viewAt } from './past-views.ts';
import type { SessionView } from './session-service.ts';

export type CreationAnswer =
  | { readonly kind: 'ready'; readonly view: SessionView }
  | { readonly kind: 'failed'; readonly error: ServiceError }
  /** A restart closed it: there is no answer that anybody could stand for. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'under_way' };

/** `isResident` is told as of now: no journal knows it. */
export async function creationAnswer(journal: Journal, isResident: boolean): Promise<CreationAnswer> {
  for await (const record of recordsOf(journal, 0)) {
    if (record.type === 'session_ready') {
      return { kind: 'ready', view: await viewAt(journal, ({ sequence }) => sequence === record.sequence, isResident) };
    }
    if (record.type === 'session_failed') {
      if (record.data.code !== 'environment_failed') return { kind: 'interrupted' };
      return { kind: 'failed', error: await setupFailure(journal.sessionId, recordsOf(journal, 0)) };
    }
  }
  return { kind: 'under_way' };
}
