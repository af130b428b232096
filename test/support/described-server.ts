/** A living server whose every answer is held against its own OpenAPI document. */
import type { LivingBrain } from './living-brain.ts';
import { LivingServer, type LivingServerOptions, type Sent } from './living-server.ts';
import { OpenApiDocument } from './openapi-document.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  /** Of an error. */
  readonly code: string | undefined;
}

export class DescribedServer {
  readonly living: LivingBrain;
  readonly document: OpenApiDocument;
  readonly #server: LivingServer;

  private constructor(server: LivingServer, document: OpenApiDocument) {
    this.living = server.living;
    this.#server = server;
    this.document = document;
  }

  /** `document`: as another server gave it, where a test has that already. All servers give the same. */
  static async open({ document, ...options }: LivingServerOptions & { readonly document?: OpenApiDocument } = {}): Promise<DescribedServer> {
    const server = await LivingServer.open(options);
    return new DescribedServer(server, document ?? (await OpenApiDocument.of(server)));
  }

  /** The document alone, for the servers that a test opens later. */
  static async document(): Promise<OpenApiDocument> {
    const described = await DescribedServer.open();
    await described.close();
    return described.document;
  }

  get port(): number {
    return this.#server.port;
  }

  /** Throws where the answer is not one that is described. */
  async send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const response = await this.#server.send(method, path, sent);
    const route = this.document.routeOf(method, path);
    const problem = route === null ? null : await this.document.answerProblem(route, response.clone());
    if (problem !== null) throw new Error(`${method} ${path} is answered as it is not described: ${problem}`);
    const text = await response.text();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: response.status, headers: response.headers, body, code: codeOf(body) };
  }

  async create(body: unknown = {}): Promise<string> {
    return this.#server.create(body);
  }

  /** The process dies, and another one starts on the same disk. */
  async restart(): Promise<DescribedServer> {
    await this.#server.close();
    const server = await LivingServer.over(await this.living.restart());
    return new DescribedServer(server, this.document);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }
}

function codeOf(body: unknown): string | undefined {
  const { error } = (body ?? {}) as { readonly error?: { readonly code: string } };
  return error?.code;
}
