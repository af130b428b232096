/** The story that is told: a turn, a kill in the middle of the next, and what the journal makes of it. */
import { createSession, eventsAfter, follow, submit, type ShownEvent } from './demo-client.ts';
import { DemoServer } from './demo-server.ts';
import type { Narration } from './narration.ts';

interface WatchedTurn {
  readonly input: string;
  readonly after: number;
  readonly until: (event: ShownEvent) => boolean;
}

export class Demonstration {
  readonly #narration: Narration;
  readonly #dataDirectory: string;
  readonly #servers: DemoServer[] = [];

  constructor(narration: Narration, dataDirectory: string) {
    this.#narration = narration;
    this.#dataDirectory = dataDirectory;
  }

  async tell(): Promise<void> {
    const narration = this.#narration;
    narration.title('Brain: a server is killed in the middle of a turn, and loses nothing.');

    narration.step(1, 'Start a server on an empty data directory.');
    const first = await this.#start();

    narration.step(2, 'Create a session on the built-in model, demo/echo.');
    const { session_id: id, tools } = await createSession(first.url);
    narration.note(`POST /v1/sessions {} -> ${id}, tools: ${tools.join(', ')}`);

    narration.step(3, 'Send a message and watch its turn: each effect is in the journal before it happens.');
    const seen = await this.#watch(first, id, { input: 'What is 19 + 23?', after: 0, until: isEndOfTurn });

    narration.step(4, 'Send another. While its tool runs, kill the server: kill -9, no goodbye.');
    const killedAt = await this.#watch(first, id, {
      input: 'Please wait 60 seconds.',
      after: seen,
      until: ({ type }) => type === 'tool_call_started',
    });
    await first.kill();
    narration.alarm(`kill -9 ${first.pid}: the process is gone, and its tool had just begun`);

    narration.step(5, 'Start it again on the same directory, and read the events after the last one seen.');
    const second = await this.#start();
    const recovered = await eventsAfter(second.url, id, killedAt);
    for (const event of recovered) narration.event(event);
    narration.note('The tool may have done its work: "unknown" says so, and it is not called again.');

    narration.step(6, 'The conversation goes on.');
    const after = recovered.at(-1)?.sequence ?? killedAt;
    await this.#watch(second, id, { input: 'Are you still there?', after, until: isEndOfTurn });
  }

  /** Ends what was started, also when the story breaks off. */
  async close(): Promise<void> {
    for (const server of this.#servers) await server.kill();
  }

  async #start(): Promise<DemoServer> {
    const server = await DemoServer.start(this.#dataDirectory);
    this.#servers.push(server);
    this.#narration.note(`brain listens on ${server.url} (process ${server.pid})`);
    return server;
  }

  /** Sends a message and shows what follows, until something has happened; answers the last sequence that was shown. */
  async #watch(server: DemoServer, id: string, turn: WatchedTurn): Promise<number> {
    await submit(server.url, id, turn.input);
    let last = turn.after;
    for await (const event of follow(server.url, id, turn.after)) {
      this.#narration.event(event);
      last = event.sequence ?? last;
      if (turn.until(event)) break;
    }
    return last;
  }
}

function isEndOfTurn({ type }: ShownEvent): boolean {
  return type === 'turn_ended' || type === 'turn_failed';
}
