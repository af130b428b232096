/** The invariants I11 and I12 of `invariants.ts`: what a journal's records say of the session's environments, and nothing else. */
import type { Sequence, SessionRecord } from './records.ts';

export interface BrokenByEnvironment {
  readonly invariant: 'I11' | 'I12';
  readonly reason: string;
}

/** Of an environment that was asked for something. */
interface KnownEnvironment {
  /** `perhaps` is what nobody knows; the others the environment said itself, or was asked after it had. */
  readonly standing: 'perhaps' | 'attached' | 'detached' | 'gone';
  /** Its last operation. */
  readonly operation: Sequence;
  readonly isUnderWay: boolean;
}

export class EnvironmentLedger {
  readonly #known = new Map<string, KnownEnvironment>();
  #own: readonly string[] = [];
  #isEnding = false;
  #isDeleted = false;

  /** What the record breaks; null where all holds. */
  enter(record: SessionRecord): BrokenByEnvironment | null {
    switch (record.type) {
      case 'session_created':
        this.#own = record.data.environments.map(({ name }) => name);
        return null;
      case 'session_ready': {
        const missing = this.#own.filter((name) => this.#known.get(name)?.standing !== 'attached');
        return missing.length === 0 ? null : { invariant: 'I11', reason: `not attached: ${missing.join(', ')}` };
      }
      case 'session_ending':
        this.#isEnding = true;
        return null;
      case 'session_delete_requested':
        this.#isDeleted = true;
        return null;

      case 'environment_setup_started': {
        const { environment } = record.data;
        const isFirst = this.#own.includes(environment) && !this.#known.has(environment);
        this.#begin(record, 'perhaps');
        return isFirst ? null : { invariant: 'I11', reason: `${environment} is not the session's, or was set up before` };
      }
      case 'environment_detach_started': {
        const before = this.#begin(record, 'detached');
        const mayDetach = this.#isEnding && before?.standing === 'attached' && !before.isUnderWay;
        return mayDetach ? null : { invariant: 'I12', reason: `${record.data.environment} is not to be detached` };
      }
      case 'environment_teardown_started': {
        const before = this.#begin(record, 'perhaps');
        const mayBeThere = before !== undefined && before.standing !== 'gone' && !before.isUnderWay;
        return this.#isDeleted && mayBeThere ? null : { invariant: 'I12', reason: `${record.data.environment} is not to be torn down` };
      }

      case 'environment_setup_ended':
        return this.#end(record.data.started_sequence, 'attached');
      case 'environment_setup_failed':
        return this.#end(record.data.started_sequence, record.data.outcome === 'failed' ? 'gone' : 'perhaps');
      case 'environment_detach_ended':
      case 'environment_detach_failed':
        return this.#end(record.data.started_sequence, 'detached');
      case 'environment_teardown_ended':
        return this.#end(record.data.started_sequence, 'gone');
      case 'environment_teardown_failed':
        return this.#end(record.data.started_sequence, 'perhaps');
      default:
        return null;
    }
  }

  #begin(
    { sequence, data }: SessionRecord<'environment_setup_started' | 'environment_detach_started' | 'environment_teardown_started'>,
    standing: KnownEnvironment['standing'],
  ): KnownEnvironment | undefined {
    const before = this.#known.get(data.environment);
    this.#known.set(data.environment, { standing, operation: sequence, isUnderWay: true });
    return before;
  }

  #end(started: Sequence, standing: KnownEnvironment['standing']): null {
    for (const [name, { operation }] of this.#known) {
      if (operation === started) this.#known.set(name, { standing, operation, isUnderWay: false });
    }
    return null;
  }
}
