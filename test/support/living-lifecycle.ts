/** A living brain with one session as the lifecycle surface makes it, and what its clients do and read. */
import type { LifecycleCursor, LifecycleEvent } from '../../machines/projections/lifecycle-events.ts';
import type { CreateSession, Followed, SessionView } from '../../services/session-service.ts';
import { LivingBrain, TENANT, type LivingBrainOptions } from './living-brain.ts';
import { saying, ScriptedModel, type ScriptedModelCall } from './scripted-model.ts';
import { quiescence } from './simulated-clock.ts';

export const START: LifecycleCursor = { sequence: 0, index: null };

export class LivingLifecycle {
  readonly brain: LivingBrain;
  readonly id: string;

  private constructor(brain: LivingBrain, id: string) {
    this.brain = brain;
    this.id = id;
  }

  /** Unless it is given another one, its model waits for the test to answer. */
  static async set(options: LivingBrainOptions & { readonly session?: Partial<CreateSession> } = {}): Promise<LivingLifecycle> {
    const { session, ...rest } = options;
    const brain = await LivingBrain.start({ model: new ScriptedModel(() => 'waits'), ...rest });
    const { session_id } = await brain.createChat({ surface: 'sessions', ...session });
    return new LivingLifecycle(brain, session_id);
  }

  /** The process dies and another takes over. */
  async restart(): Promise<LivingLifecycle> {
    return new LivingLifecycle(await this.brain.restart(), this.id);
  }

  queue(text: string, key?: string): Promise<LifecycleEvent<'user.message'>> {
    return this.brain.sessions.queue(TENANT, this.id, key === undefined ? { text } : { text, key });
  }

  /** Sends several and answers the messages' sequences. */
  async queueAll(...texts: readonly string[]): Promise<readonly number[]> {
    const sequences: number[] = [];
    for (const text of texts) sequences.push((await this.queue(text)).sequence);
    return sequences;
  }

  interrupt(): Promise<void> {
    return this.brain.sessions.cancel(TENANT, this.id);
  }

  close(): Promise<void> {
    return this.brain.sessions.close(TENANT, this.id);
  }

  resume(): Promise<SessionView> {
    return this.brain.sessions.resume(TENANT, this.id);
  }

  withdraw(message: number): Promise<void> {
    return this.brain.sessions.withdraw(TENANT, this.id, message);
  }

  get view(): Promise<SessionView> {
    return this.brain.sessions.get(TENANT, this.id);
  }

  /** The model's call of the given number; the turn that makes it is running. */
  call(index: number): Promise<ScriptedModelCall> {
    return this.brain.model.calls.at(index);
  }

  /** Answers the model's call of the given number, and waits for what follows. */
  async answer(index: number, text = 'done'): Promise<void> {
    (await this.call(index)).answer(saying(text));
    await quiescence();
  }

  async events(after = START): Promise<readonly LifecycleEvent[]> {
    const { items } = await this.brain.sessions.lifecycleEvents(TENANT, this.id, { after, limit: 100_000 });
    return items;
  }

  /** What each event says in short, with the message that it belongs to. */
  async told(): Promise<readonly string[]> {
    return (await this.events()).map(briefOf);
  }

  async follow(after = START, signal = new AbortController().signal): Promise<LifecycleReader> {
    return new LifecycleReader(await this.brain.sessions.followLifecycle(TENANT, this.id, after, signal));
  }
}

/** As in `running 3`, `error conflict 5`, `closed`. */
export function briefOf(event: LifecycleEvent): string {
  const said =
    event.type === 'session.status' ? event.data.status : event.type === 'session.error' ? `error ${event.data.code}` : event.type;
  return event.input_sequence === undefined ? said : `${said} ${event.input_sequence}`;
}

/** Reads what a follower is shown, as fast as it comes. */
export class LifecycleReader {
  readonly seen: Followed<LifecycleEvent>[] = [];
  readonly hadEnded: boolean;
  readonly ended: Promise<void>;

  constructor({ ended, items }: { readonly ended: boolean; readonly items: AsyncIterable<Followed<LifecycleEvent>> }) {
    this.hadEnded = ended;
    this.ended = this.#read(items);
  }

  get recorded(): readonly LifecycleEvent[] {
    return this.seen.flatMap((one) => (one.kind === 'recorded' ? [one.item] : []));
  }

  async #read(items: AsyncIterable<Followed<LifecycleEvent>>): Promise<void> {
    for await (const followed of items) this.seen.push(followed);
  }
}
