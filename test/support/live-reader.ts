/** Reads what a session's follower is shown, as fast as it comes, until it ends. */
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import type { Followed, Following, LiveEvent, SessionService } from '../../services/session-service.ts';

export class LiveReader {
  readonly seen: Followed<PublicEvent>[] = [];
  readonly ended: Promise<void>;
  hasEnded = false;
  /** What it ended with, where that was an error. */
  error: unknown = null;
  readonly #abort: AbortController;

  private constructor(following: Following<PublicEvent>, abort: AbortController) {
    this.#abort = abort;
    this.ended = this.#read(following);
  }

  static async of(sessions: SessionService, sessionId: string, after = 0, tenant = 'local'): Promise<LiveReader> {
    const abort = new AbortController();
    return new LiveReader(await sessions.followEvents(tenant, sessionId, after, abort.signal), abort);
  }

  get recorded(): readonly PublicEvent[] {
    return this.seen.flatMap((one) => (one.kind === 'recorded' ? [one.item] : []));
  }

  get live(): readonly LiveEvent[] {
    return this.seen.flatMap((one) => (one.kind === 'live' ? [one.event] : []));
  }

  get types(): readonly string[] {
    return this.recorded.map(({ type }) => type);
  }

  async leave(): Promise<void> {
    this.#abort.abort();
    await this.ended;
  }

  async #read(following: Following<PublicEvent>): Promise<void> {
    try {
      for await (const followed of following.items) this.seen.push(followed);
    } catch (error) {
      this.error = error;
    }
    this.hasEnded = true;
  }
}
