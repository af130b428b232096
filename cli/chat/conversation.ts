/**
 * A conversation of a terminal with one session.
 *
 *   C1. A message is sent under one key until Brain has taken it, over whatever becomes of the connection: it is said once.
 *   C2. What is shown is what the session's events say. A call that nobody knows the end of is said to be that.
 *   C3. An interrupt stops the running turn. Without one, or a second time in the same turn, it ends the conversation.
 */
import { createInterface } from 'node:readline';
import { BrainClosedError, BrainConnectionError, BrainError, type Brain, type LivingEvent, type RecordedEvent, type Session } from '../../client/index.ts';
import { chatTools } from './tools.ts';
import { wordsFor } from './words.ts';

const PAUSE_MS = 500;

export interface Terminal {
  readonly lines: NodeJS.ReadableStream;
  write(text: string): void;
  now(): Date;
  /** `PROVIDER/NAME`. */
  readonly model: string;
}

export class Conversation {
  readonly #brain: Brain;
  readonly #terminal: Terminal;
  readonly #leaving = new AbortController();
  #session: Session | null = null;
  #isRunning = false;
  #isInterrupted = false;
  #turnOver: () => void = () => undefined;

  constructor(brain: Brain, terminal: Terminal) {
    this.#brain = brain;
    this.#terminal = terminal;
  }

  /** Resolves when the input has ended, or somebody left. */
  async hold(): Promise<void> {
    const { lines, model } = this.#terminal;
    const [provider = '', ...name] = model.split('/');
    const session = await this.#brain.sessions.create({ model: { provider, name: name.join('/') }, tools: chatTools(() => this.#terminal.now()) });
    this.#session = session;
    this.#terminal.write(`Session ${session.id}. Say something; Ctrl-C stops the turn, and a second one leaves.\n> `);
    const showing = this.#show(session);
    const input = createInterface({ input: lines });
    this.#leaving.signal.addEventListener('abort', () => input.close(), { once: true });
    try {
      for await (const line of input) {
        if (line.trim() !== '') await this.#say(session, line);
        if (this.#leaving.signal.aborted) break;
        this.#terminal.write('> ');
      }
    } finally {
      this.leave();
      await showing;
    }
  }

  interrupt(): void {
    if (!this.#isRunning || this.#isInterrupted) {
      this.leave();
      return;
    }
    this.#isInterrupted = true;
    this.#terminal.write('\n(stopping the turn; once more to leave)\n');
    this.#session?.interrupt().catch((error: unknown) => this.#complain(error));
  }

  leave(): void {
    this.#leaving.abort();
    this.#turnOver();
  }

  async #say(session: Session, text: string): Promise<void> {
    const over = new Promise<void>((resolve) => {
      this.#turnOver = resolve;
    });
    this.#isRunning = true;
    this.#isInterrupted = false;
    if (await this.#submit(session, text)) await over;
    this.#isRunning = false;
  }

  async #submit(session: Session, text: string): Promise<boolean> {
    let options: { readonly idempotencyKey?: string } = {};
    while (!this.#leaving.signal.aborted) {
      try {
        await session.submit(text, options);
        return true;
      } catch (error) {
        const isPassing = error instanceof BrainConnectionError || (error instanceof BrainError && error.retryable);
        if (!isPassing || error.idempotencyKey === undefined) {
          this.#complain(error);
          return false;
        }
        if (options.idempotencyKey === undefined) this.#terminal.write('(the server is away; trying again)\n');
        options = { idempotencyKey: error.idempotencyKey };
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
    return false;
  }

  async #show(session: Session): Promise<void> {
    const { signal } = this.#leaving;
    try {
      for await (const event of session.stream({ after: session.info.last_sequence, signal })) {
        this.#tell(event);
        if (event.type === 'turn_ended' || event.type === 'turn_failed') this.#turnOver();
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#complain(error);
      this.leave();
    }
  }

  #tell(event: RecordedEvent | LivingEvent): void {
    const words = wordsFor(event);
    if (words !== null) this.#terminal.write(`${words}\n`);
  }

  #complain(error: unknown): void {
    if (!(error instanceof BrainClosedError)) this.#terminal.write(`! ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
