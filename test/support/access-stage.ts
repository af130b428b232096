/**
 * Two tenants on one server, with tokens of every kind, and sessions of one of them in every state. What each tenant says
 * and is told holds a canary of its own.
 */
import { Tokens } from '../../services/tokens.ts';
import { eventually } from './eventually.ts';
import { LivingBrain } from './living-brain.ts';
import { LivingServer, type Sent } from './living-server.ts';
import { MemoryTokensFile } from './memory-tokens-file.ts';
import { saying, ScriptedModel } from './scripted-model.ts';
import { quiescence, SimulatedClock } from './simulated-clock.ts';
import type { Scope } from '../../services/scopes.ts';

export const API_KEY = 'the-key-of-the-tenant-local';
export const RED = 'red';
export const BLUE = 'blue';
export const CANARY = { [RED]: 'canary-of-red-1a2b3c', [BLUE]: 'canary-of-blue-4d5e6f' } as const;
export type Tenant = keyof typeof CANARY;

/** Of each tenant a host of this name is running. */
export const KNOWN_PROCESS = { name: 'known', incarnation: 'first' };

export const STATES = ['idle', 'running', 'waiting', 'ending', 'interrupted', 'failed', 'ended', 'unusable', 'deleted'] as const;
/** `waiting`: a turn runs and a message waits. `ending`: a turn runs, and an end was asked for. `deleted`: it was there. */
export type State = (typeof STATES)[number];

export interface StandingSession {
  readonly id: string;
  /** The `input_id` of the message that was sent last. */
  readonly lastInput: string;
}

export class AccessStage {
  readonly living: LivingBrain;
  readonly server: LivingServer;
  readonly file: MemoryTokensFile;
  readonly #tokens: Tokens;
  readonly #texts = new Map<string, string>();

  private constructor(server: LivingServer, file: MemoryTokensFile, tokens: Tokens) {
    this.living = server.living;
    this.server = server;
    this.file = file;
    this.#tokens = tokens;
  }

  static async open(): Promise<AccessStage> {
    const clock = new SimulatedClock();
    const file = new MemoryTokensFile();
    const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const tokens = await Tokens.open({ file, clock, log: quiet });
    const model = new ScriptedModel(({ request }) => {
      const said = JSON.stringify(request.messages.at(-1));
      if (said.includes('hang')) return 'waits';
      if (said.includes('fail')) return { outcome: 'failed', code: 'model_error', message: 'no luck' };
      return saying(`you said ${said}`);
    });
    const stage = new AccessStage(await LivingServer.over(await LivingBrain.start({ clock, model }), { apiKey: API_KEY, tokens }), file, tokens);
    const callers = [API_KEY, stage.token(RED, 'send'), stage.token(BLUE, 'send')];
    await Promise.all(callers.map((token) => stage.send('POST', '/v1/hosts', token, { body: KNOWN_PROCESS })));
    return stage;
  }

  async close(): Promise<void> {
    this.#tokens.close();
    await this.server.close();
  }

  token(tenant: string, scope: Scope, sessionId: string | null = null): string {
    return this.#once([tenant, scope, sessionId].join(' '), () => this.file.add({ tenant, scope, session_id: sessionId }).text);
  }

  expiredToken(): string {
    return this.#once('expired', () => this.file.add({ tenant: RED, scope: 'manage', expires_at: this.living.clock.now() }).text);
  }

  revokedToken(): string {
    return this.#once('revoked', () => {
      const { id, text } = this.file.add({ tenant: RED, scope: 'manage' });
      this.file.revoke(id);
      return text;
    });
  }

  send(method: string, path: string, token: string | null, { headers = {}, ...sent }: Sent = {}): Promise<Response> {
    return this.server.send(method, path, { ...sent, headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers } });
  }

  async session(tenant: Tenant, state: State): Promise<StandingSession> {
    const { sessions, disk } = this.living;
    const canary = CANARY[tenant];
    const { session_id: id } = await sessions.create(tenant, { surface: 'sessions', system: canary, after_stop: 'hold', tools: [], metadata: { canary } });
    const queue = async (text: string): Promise<string> => `${(await sessions.queue(tenant, id, { text: `${text} ${canary}` })).sequence}.0`;
    const turn = async (text: string): Promise<string> => {
      const input = await queue(text);
      await quiescence();
      return input;
    };
    let lastInput = await turn('hello');
    switch (state) {
      case 'idle':
        break;
      case 'running':
        lastInput = await turn('hang');
        break;
      case 'waiting':
        await turn('hang');
        lastInput = await queue('hello');
        break;
      case 'ending':
        lastInput = await turn('hang');
        void sessions.end(tenant, id).catch(() => undefined);
        break;
      case 'interrupted':
        lastInput = await turn('hang');
        await sessions.cancel(tenant, id);
        break;
      case 'failed':
        lastInput = await turn('fail');
        break;
      case 'unusable':
        lastInput = await turn('fail');
        disk.plan = ({ kind, path }) => (kind === 'rename' && path.includes(id) ? { fails: 'EIO' } : undefined);
        await sessions.delete(tenant, id).catch(() => undefined);
        disk.plan = () => undefined;
        break;
      case 'ended':
      case 'deleted':
        await sessions.end(tenant, id);
        if (state === 'deleted') await sessions.delete(tenant, id);
        break;
    }
    await quiescence();
    return { id, lastInput };
  }

  /** Lets whatever hangs in a session come to its end. */
  async release(tenant: Tenant, id: string): Promise<void> {
    await this.living.sessions.close(tenant, id).catch(() => undefined);
    await quiescence();
  }

  /** All that is known of a session. Null for one that is not there. */
  async standing(tenant: Tenant, id: string): Promise<unknown> {
    try {
      const { items } = await this.living.sessions.journal(tenant, id, { after: 0, limit: 100_000 });
      return items;
    } catch {
      return null;
    }
  }

  #once(name: string, make: () => string): string {
    const token = this.#texts.get(name) ?? make();
    this.#texts.set(name, token);
    return token;
  }

  async untilRecorded(tenant: Tenant, id: string, type: string): Promise<void> {
    await eventually(async () => ((await this.living.sessions.journal(tenant, id, { after: 0, limit: 1000 })).items.some((record) => record.type === type) ? true : undefined), type);
  }
}
