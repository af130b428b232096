/**
 * The loop of the simulated sessions that use every host service. What it does in a turn stands in the message: one letter
 * for each thing. It keeps nothing from one turn to the next, and tells the auditor what it hears.
 */
import type { JsonValue, Message } from '../../machines/messages.ts';
import { textOf } from '../../machines/messages.ts';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import type { Sequence } from '../../machines/records.ts';
import type {
  AgentLoop,
  LoopHost,
  LoopModelAnswer,
  LoopModelRequest,
  LoopToolAnswer,
  Refused,
  TurnInput,
  TurnResult,
} from '../../services/loops/agent-loop.ts';

/** Told of everything that a loop is shown. */
export interface LoopWatcher {
  turnBegan(input: TurnInput): void;
  heardModel(sessionId: string, answer: LoopModelAnswer): void;
  heardTools(sessionId: string, answers: readonly LoopToolAnswer[]): void;
  heardEvents(sessionId: string, after: Sequence, events: readonly PublicEvent[]): void;
  heardValue(sessionId: string, key: string, answer: { readonly found: boolean; readonly value?: JsonValue }): void;
  heardEmitted(sessionId: string, answer: { readonly sequence: Sequence } | Refused): void;
  saved(sessionId: string, what: { readonly transcript: readonly Message[] } | { readonly key: string; readonly value: JsonValue | undefined }): void;
}

/** From the plainest to the strangest. */
export const PROGRAMS = ['m', 'tmt', 'x', 'eX', 'prm', 'otmxt', 'erm', 'MX', 'epdr', 'cR', 'cm', 'l', 'F', 'H', 'iH', 'tb', 'cvm', 'w'] as const;

/** For sessions that have environments. */
export const ENVIRONMENT_PROGRAMS = ['E', 'E', 'EE', 'Ex', 'B', 'm', 'tEm', 'oE', 'BX'] as const;

export function testLoop(watcher: LoopWatcher): AgentLoop {
  return { name: 'test', turn: (input, host) => new Program(input, host, watcher).run() };
}

class Program {
  readonly #input: TurnInput;
  readonly #host: LoopHost;
  readonly #watcher: LoopWatcher;
  #transcript: readonly Message[];
  #result: Sequence | null = null;

  constructor(input: TurnInput, host: LoopHost, watcher: LoopWatcher) {
    this.#input = input;
    this.#host = host;
    this.#watcher = watcher;
    this.#transcript = input.transcript;
  }

  async run(): Promise<TurnResult> {
    this.#watcher.turnBegan(this.#input);
    const [, program = ''] = textOf(this.#input.message).split('|');
    for (const letter of program) await this.#do(letter);
    return this.#result === null ? { kind: 'returned', result: { value: 'done' } } : { kind: 'returned', result: { sequence: this.#result } };
  }

  async #do(letter: string): Promise<void> {
    const { session_id, message_sequence } = this.#input;
    const host = this.#host;
    const key = `n${message_sequence % 3}`;
    switch (letter) {
      case 'm':
        await this.#model();
        return;
      case 'v':
        await this.#model({ system: 'another text', tools: ['act'], parameters: { temperature: 1 } });
        return;
      case 'w':
        await this.#model({ system: null, tools: [] });
        return;
      case 'M':
        await Promise.all([this.#model(), this.#model(), this.#dispatch(['look'])]);
        return;
      case 'x':
        await this.#dispatch(['look']);
        return;
      case 'X':
        await this.#dispatch(['look', 'act']);
        return;
      case 'E':
        // Those that the session has.
        await this.#dispatch(this.#input.tools.map(({ name }) => name).filter((name) => name === 'fetch' || name === 'grind'));
        return;
      case 'B':
        await this.#dispatch(['fetch', 'grind', 'look']);
        return;
      case 't':
        await this.#save([...this.#transcript, this.#input.message]);
        return;
      case 'R':
        await this.#save([this.#input.message]);
        return;
      case 'b':
        await this.#save([...this.#transcript, { role: 'user', content: [{ type: 'text', text: 'long '.repeat(600) }] }]);
        return;
      case 'p':
        await host.kv.put(key, message_sequence);
        this.#watcher.saved(session_id, { key, value: message_sequence });
        return;
      case 'd':
        await host.kv.delete(key);
        this.#watcher.saved(session_id, { key, value: undefined });
        return;
      case 'r':
        for (const name of ['n0', 'n1', 'n2']) this.#watcher.heardValue(session_id, name, await host.kv.read(name));
        return;
      case 'e':
        await this.#events(0);
        return;
      case 'c':
        await this.#events(this.#input.checkpoint_sequence);
        return;
      case 'o':
        this.#watcher.heardEmitted(session_id, await host.emit('acme.note', { at: message_sequence }));
        return;
      case 'l':
        host.telemetry({ at: message_sequence });
        return;
      case 'i':
        // Goes on when it is told to stop, and saves what it has.
        if (!host.signal.aborted) await new Promise((resolve) => host.signal.addEventListener('abort', resolve, { once: true }));
        await host.kv.put(key, 'stopped');
        this.#watcher.saved(session_id, { key, value: 'stopped' });
        return;
      case 'F':
        throw new Error('the loop breaks');
      case 'H':
        await new Promise(() => undefined);
        return;
      default:
        throw new Error(`no letter ${letter}`);
    }
  }

  async #model(difference: Omit<LoopModelRequest, 'messages'> = {}): Promise<void> {
    const answer = await this.#host.model({ ...difference, messages: [...this.#transcript, this.#input.message] });
    this.#watcher.heardModel(this.#input.session_id, answer);
    if (answer.outcome !== 'ended') return;
    this.#result = answer.sequence;
    this.#transcript = [...this.#transcript, answer.message];
  }

  async #dispatch(tools: readonly string[]): Promise<void> {
    const calls = tools.map((tool) => ({ tool, tool_use_id: `use_${tool}`, input_text: '{"a":1}' }));
    this.#watcher.heardTools(this.#input.session_id, await this.#host.dispatch(calls));
  }

  async #save(transcript: readonly Message[]): Promise<void> {
    await this.#host.setTranscript(transcript);
    this.#transcript = transcript;
    this.#watcher.saved(this.#input.session_id, { transcript });
  }

  async #events(from: Sequence): Promise<void> {
    const events: PublicEvent[] = [];
    for (let after: Sequence | null = from; after !== null; ) {
      const page = await this.#host.events(after);
      events.push(...page.events);
      after = page.next;
    }
    this.#watcher.heardEvents(this.#input.session_id, from, events);
  }
}
