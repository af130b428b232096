/**
 * The clients: each does one thing after another to any session, as its seed says, repeats what it got no answer to where
 * it has a key, and writes down what it was told.
 */
import type { Answer, BrainApi } from '../support/brain-api.ts';
import { FAR_TOOLS, type FarEnvironment } from './far-tools.ts';
import { Follower } from './follower.ts';
import type { Gate } from './gate.ts';
import { SessionEntry, type Ledger, type SendEntry } from './ledger.ts';
import { drawPlan, TOOLS } from './message-plan.ts';
import { SeededRandom } from './seeded-random.ts';

export interface ClientOptions {
  readonly seed: number;
  readonly clients: number;
  /** How many sessions are in use at once. */
  readonly sessions: number;
  readonly followersPerSession: number;
  /** A session has one of them: null is released at once, 0 never. */
  readonly idleTtlsMs: readonly (number | null)[];
  readonly weights: Readonly<Record<Deed, number>>;
  /** A session gets no more than so many messages. */
  readonly messagesPerSession: number;
}

export type Deed = 'create' | 'submit' | 'send' | 'cancel' | 'resume' | 'end' | 'delete' | 'look' | 'drop' | 'repeat';

type Reply = Answer | null;

const TRIES_MAX = 40;
const FAR_CHOICES: readonly (readonly FarEnvironment[])[] = [[], ['air'], ['air'], ['air', 'desk'], ['desk']];

export class Clients {
  readonly #options: ClientOptions;
  readonly #ledger: Ledger;
  readonly #gate: Gate;
  readonly #api: () => BrainApi;
  #tagCount = 0;
  #round = 0;
  #isStopped = false;

  constructor(options: ClientOptions, ledger: Ledger, gate: Gate, api: () => BrainApi) {
    this.#options = options;
    this.#ledger = ledger;
    this.#gate = gate;
    this.#api = api;
  }

  /** Resolves when all clients have stopped. They may be run again, and do something else then. */
  async run(): Promise<void> {
    this.#isStopped = false;
    this.#round += 1;
    await Promise.all(Array.from({ length: this.#options.clients }, (_, index) => this.#work(index)));
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #work(index: number): Promise<void> {
    const round = this.#round;
    const random = new SeededRandom(this.#options.seed, `client ${index} of ${round}`);
    for (let step = 0; !this.#isStopped; step += 1) {
      // One after another: what this client lets through and what it counts are then of one deed.
      await this.#gate.passing(() => Promise.resolve());
      const session = random.pick(this.#ledger.usable);
      const deed = session === undefined || this.#ledger.usable.length < this.#options.sessions ? 'create' : random.weighted(this.#options.weights);
      await this.#do(deed, session, `${round}.${index}.${step}`, random);
    }
  }

  async #do(deed: Deed, session: SessionEntry | undefined, name: string, random: SeededRandom): Promise<void> {
    if (session === undefined || deed === 'create') return this.#create(random);
    session.isTouched = true;
    this.#ledger.count(deed);
    switch (deed) {
      case 'submit':
      case 'send':
        return this.#send(session, deed === 'submit', `m${name}`, random);
      case 'cancel':
        return this.#cancel(session, name, random);
      case 'resume':
        return this.#resume(session, name, random);
      case 'end':
        return this.#end(session, name, random);
      case 'delete':
        return this.#delete(session, name, random);
      case 'look':
        return this.#look(session, random);
      case 'repeat':
        return this.#repeat(session, random);
      case 'drop':
        random.pick(session.followers)?.drop();
        // Nothing is asked of the server here.
        return new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #create(random: SeededRandom): Promise<void> {
    const tag = `s${this.#tagCount++}`;
    const key = random.chance(0.7) ? `create ${tag}` : null;
    this.#ledger.count('create');
    this.#ledger.uncertainCreates.add(tag);
    const environments = random.pick(FAR_CHOICES) ?? [];
    const body = {
      model: { provider: 'openai', name: 'scripted' },
      system: `This is ${tag}.`,
      environments,
      tools: [...TOOLS.map(({ name }) => name), ...environments.flatMap((name) => FAR_TOOLS[name])],
      metadata: { tag },
      after_stop: random.pick(['idle', 'hold']),
      idle_ttl_ms: random.pick(this.#options.idleTtlsMs),
    };
    const { reply } = await this.#ask('POST', '/v1/sessions', body, key);
    if (reply?.status !== 201) {
      // 502: an environment could not be set up.
      this.#expect(reply, [409, 502, 503], 'a create');
      return;
    }
    this.#ledger.uncertainCreates.delete(tag);
    const { session_id: id } = reply.body as { readonly session_id: string };
    const session = new SessionEntry(tag, id);
    this.#ledger.sessions.set(tag, session);
    for (let index = 0; index < this.#options.followersPerSession; index += 1) {
      const drops = new SeededRandom(this.#options.seed, `follower ${tag} ${index}`);
      session.followers.push(new Follower(id, () => this.#urlOrNull(), drops));
    }
  }

  #urlOrNull(): string | null {
    try {
      return this.#api().url;
    } catch {
      return null;
    }
  }

  async #send(session: SessionEntry, isAsync: boolean, token: string, random: SeededRandom): Promise<void> {
    const entry: SendEntry = {
      plan: drawPlan(token, random),
      key: random.chance(0.6) ? `send ${token}` : null,
      isAsync,
      wasUncertain: false,
      accepted: null,
      isSettled: false,
    };
    session.sends.set(token, entry);
    if (session.sends.size >= this.#options.messagesPerSession) session.isRetired = true;
    await this.#trySend(session, entry);
  }

  async #trySend(session: SessionEntry, entry: SendEntry): Promise<void> {
    const headers: Record<string, string> = entry.isAsync ? { prefer: 'respond-async' } : {};
    const path = `/v1/sessions/${session.id}/messages`;
    const { reply, wasUncertain } = await this.#ask('POST', path, { input: JSON.stringify(entry.plan) }, entry.key, headers);
    session.isTouched = true;
    entry.wasUncertain ||= wasUncertain || reply === null || reply.status === 503 || isCode(reply, 'idempotency_in_progress', 'idempotency_ambiguous');
    entry.isSettled = true;
    if (reply?.status !== (entry.isAsync ? 202 : 200)) {
      this.#expect(reply, [404, 409, 503], `message ${entry.plan.token}`);
      return;
    }
    this.#ledger.count('accepted');
    const body = reply.body as NonNullable<SendEntry['accepted']>;
    if (entry.accepted !== null && JSON.stringify(entry.accepted) !== JSON.stringify(body)) {
      this.#ledger.fault(`${session.id}: ${entry.plan.token} was answered ${JSON.stringify(entry.accepted)}, then ${JSON.stringify(body)}`);
    }
    entry.accepted = body;
  }

  /** Sends again under its key what was answered before: the same answer, and nothing more happens. */
  async #repeat(session: SessionEntry, random: SeededRandom): Promise<void> {
    const answered = [...session.sends.values()].filter(({ key, accepted, isSettled }) => key !== null && accepted !== null && isSettled);
    const entry = random.pick(answered);
    if (entry === undefined) return;
    const { accepted } = entry;
    await this.#trySend(session, entry);
    entry.accepted = accepted;
  }

  async #cancel(session: SessionEntry, name: string, random: SeededRandom): Promise<void> {
    const sentAtMs = Date.now();
    const { reply } = await this.#ask('POST', `/v1/sessions/${session.id}/cancel`, undefined, random.chance(0.5) ? `cancel ${name}` : null);
    if (reply?.status === 202) session.cancels.push({ sentAtMs, acknowledgedAtMs: Date.now() });
    else this.#expect(reply, [404, 409], 'a cancel');
  }

  async #resume(session: SessionEntry, name: string, random: SeededRandom): Promise<void> {
    const sentAtMs = Date.now();
    const { reply } = await this.#ask('POST', `/v1/sessions/${session.id}/resume`, undefined, random.chance(0.5) ? `resume ${name}` : null);
    if (reply?.status === 200) session.resumes.push({ sentAtMs, acknowledgedAtMs: Date.now() });
    else this.#expect(reply, [404, 409, 503], 'a resume');
  }

  async #end(session: SessionEntry, name: string, random: SeededRandom): Promise<void> {
    const { reply } = await this.#ask('POST', `/v1/sessions/${session.id}/end`, undefined, random.chance(0.5) ? `end ${name}` : null);
    if (reply?.status === 200) session.isEndAcknowledged = true;
    else this.#expect(reply, [404, 409], 'an end');
  }

  async #delete(session: SessionEntry, name: string, random: SeededRandom): Promise<void> {
    const earlier = session.deletion;
    session.deletion = earlier === 'none' ? 'asked' : earlier;
    const { reply } = await this.#ask('DELETE', `/v1/sessions/${session.id}`, undefined, random.chance(0.5) ? `delete ${name}` : null);
    if (reply?.status === 204) {
      session.deletion = 'acknowledged';
      session.isRetired = true;
    } else {
      // 502: an environment could not be torn down.
      this.#expect(reply, [404, 409, 502], 'a delete');
      if (reply !== null && isCode(reply, 'must_end') && session.deletion === 'asked') session.deletion = earlier;
    }
  }

  async #look(session: SessionEntry, random: SeededRandom): Promise<void> {
    const views = ['', '/events?after=0', '/transcript', '/journal?after=0'];
    const path = random.chance(0.2) ? '/v1/sessions?limit=20' : `/v1/sessions/${session.id}${random.pick(views) ?? ''}`;
    const { reply } = await this.#ask('GET', path, undefined, null);
    if (reply?.status !== 200) this.#expect(reply, [404], `a look at ${path}`);
  }

  /** One request, again under its key for as long as what became of it is open; null where nobody will know. */
  async #ask(
    method: string,
    path: string,
    body: unknown,
    key: string | null,
    more: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly reply: Reply; readonly wasUncertain: boolean }> {
    const headers = { ...more, ...(key === null ? {} : { 'idempotency-key': key }) };
    for (let tries = 1; ; tries += 1) {
      const reply = await this.#gate.passing(async () => {
        try {
          return await this.#api().request(method, path, body, headers);
        } catch {
          return null;
        }
      });
      const isOpen = reply === null || isCode(reply, 'idempotency_in_progress');
      if (!isOpen || key === null || tries === TRIES_MAX || this.#isStopped) return { reply, wasUncertain: tries > 1 };
      if (tries === 1 && reply === null) this.#ledger.count('retries under a key');
      if (reply !== null) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Any other status is a fault of the server; one that is meant says why. */
  #expect(reply: Reply, statuses: readonly number[], what: string): void {
    this.#ledger.count(reply === null ? 'unanswered' : `${reply.status}`);
    if (reply !== null && !statuses.includes(reply.status)) this.#ledger.fault(`${what} was answered with ${reply.status} ${JSON.stringify(reply.body)}`);
  }
}

function isCode({ body }: Answer, ...codes: readonly string[]): boolean {
  const { error } = (body ?? {}) as { readonly error?: { readonly code: string } };
  return error !== undefined && codes.includes(error.code);
}
