/** A session of `/sessions` over a described server and a scripted model: it is asked over HTTP, and its answers are told in short. */
import { expect } from 'vitest';
import { DescribedServer, type Answer } from './described-server.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { ScriptedModel } from './scripted-model.ts';

export interface LifecycleEvent {
  readonly id: string;
  readonly type: string;
  readonly session_id: string;
  readonly input_id?: string;
  readonly text?: string;
  readonly key?: string;
  readonly status?: string;
  readonly code?: string;
}

export interface WaitingMessage {
  readonly input_id: string;
  readonly text: string;
}

export class DescribedSession {
  readonly model: ScriptedModel;
  server: DescribedServer;
  /** The session that is asked where no other is named. */
  id = '';

  private constructor(model: ScriptedModel, server: DescribedServer) {
    this.model = model;
    this.server = server;
  }

  static async open(document: OpenApiDocument): Promise<DescribedSession> {
    const model = new ScriptedModel();
    const stage = new DescribedSession(model, await DescribedServer.open({ model, document }));
    stage.id = await stage.created();
    return stage;
  }

  async created(body: unknown = { harness: 'chat', config: { model: 'demo/echo' } }): Promise<string> {
    const answer = await this.server.send('POST', '/sessions', { body });
    expect(answer.status).toBe(201);
    return (answer.body as { readonly id: string }).id;
  }

  post(body: unknown, sessionId = this.id): Promise<Answer> {
    return this.server.send('POST', `/sessions/${sessionId}/events`, { body });
  }

  say(text: string, key?: unknown): Promise<Answer> {
    return this.post({ type: 'user.message', text, ...(key === undefined ? {} : { key }) });
  }

  async accepted(text: string, key?: string): Promise<LifecycleEvent> {
    const answer = await this.say(text, key);
    expect([answer.status, answer.code]).toEqual([202, undefined]);
    return answer.body as LifecycleEvent;
  }

  /** Sends a message whose turn waits for the test. */
  async running(text = 'first'): Promise<LifecycleEvent> {
    this.model.script = () => 'waits';
    const call = this.model.calls.all.length;
    const event = await this.accepted(text);
    await this.model.calls.at(call);
    return event;
  }

  async verb(name: 'resume' | 'close', sessionId = this.id, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.server.send('POST', `/sessions/${sessionId}/${name}`, { headers });
  }

  async interrupt(): Promise<void> {
    const answer = await this.post({ type: 'user.interrupt' });
    expect([answer.status, answer.body]).toEqual([202, { status: 'interrupt_requested' }]);
  }

  /** Resolves when no turn runs and nothing more happens. */
  async atRest(sessionId = this.id): Promise<void> {
    await this.server.living.atRest(sessionId);
  }

  async events(sessionId = this.id): Promise<readonly LifecycleEvent[]> {
    const { body } = await this.server.send('GET', `/sessions/${sessionId}/events?limit=1000`);
    return (body as { readonly events: readonly LifecycleEvent[] }).events;
  }

  /** Each event in short: its type, what it is about, and the message whose turn it is of. */
  async told(sessionId = this.id): Promise<readonly (readonly unknown[])[]> {
    return (await this.events(sessionId)).map(({ type, text, status, code, input_id }) => [type, text ?? status ?? code, input_id]);
  }

  async status(sessionId = this.id): Promise<unknown> {
    return ((await this.server.send('GET', `/sessions/${sessionId}`)).body as { readonly status: unknown }).status;
  }

  async waiting(): Promise<readonly WaitingMessage[]> {
    const { body } = await this.server.send('GET', `/sessions/${this.id}/queue`);
    return (body as { readonly messages: readonly WaitingMessage[] }).messages;
  }

  /** The process dies, and another one starts on the same disk. */
  async restart(): Promise<void> {
    this.server = await this.server.restart();
  }

  async close(): Promise<void> {
    await this.server.close();
  }
}
