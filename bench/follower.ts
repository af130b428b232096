/** A reader of an event stream, that tells when an event of a name arrives and looks at nothing else of it. */
import { Agent, get, type IncomingMessage } from 'node:http';

// Each follower has a connection of its own, as followers have.
const agent = new Agent({ keepAlive: false, maxSockets: Infinity });

interface Wait {
  readonly line: string;
  readonly resolve: (at: number) => void;
  readonly reject: (error: Error) => void;
  left: number;
}

export class Follower {
  readonly #response: IncomingMessage;
  readonly #waits = new Set<Wait>();
  /** Of a line whose end has not come yet. */
  #rest = '';
  #isClosed = false;

  private constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding('latin1').on('data', (text: string) => this.#read(text));
    response.once('close', () => this.#close());
    response.once('error', () => this.#close());
  }

  /** Resolves when the stream has begun. `path`: of a session's events. */
  static async open(url: string, path: string): Promise<Follower> {
    return new Promise((resolve, reject) => {
      const request = get(`${url}${path}`, { agent, headers: { accept: 'text/event-stream' } }, (response) => {
        if (response.statusCode === 200) resolve(new Follower(response));
        else reject(new Error(`${path} was answered with ${response.statusCode}`));
      });
      request.once('error', reject);
    });
  }

  /** Resolves with the moment when the next event of this name arrives, or the `count`th from now. */
  async next(name: string, count = 1): Promise<number> {
    if (this.#isClosed) throw new Error('the stream has ended');
    return new Promise((resolve, reject) => {
      this.#waits.add({ line: `event: ${name}\n`, resolve, reject, left: count });
    });
  }

  close(): void {
    this.#response.destroy();
  }

  #read(piece: string): void {
    const at = performance.now();
    const text = this.#rest + piece;
    const end = text.lastIndexOf('\n') + 1;
    this.#rest = text.slice(end);
    for (const wait of this.#waits) {
      wait.left -= text.slice(0, end).split(wait.line).length - 1;
      if (wait.left > 0) continue;
      this.#waits.delete(wait);
      wait.resolve(at);
    }
  }

  #close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waits) reject(new Error('the stream ended before the event came'));
    this.#waits.clear();
  }
}
