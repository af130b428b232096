/** The types of `@mariozechner/pi-ai` 0.73, as far as pi's loop looks into what they describe. */

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}

export interface ThinkingContent {
  readonly type: 'thinking';
  readonly thinking: string;
}

export interface ImageContent {
  readonly type: 'image';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
}

export interface ToolCall {
  readonly type: 'toolCall';
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

export type StopReason = 'stop' | 'length' | 'toolUse' | 'error' | 'aborted';

export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly (TextContent | ImageContent)[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly (TextContent | ThinkingContent | ToolCall)[];
  readonly stopReason: StopReason;
  readonly errorMessage?: string;
}

export interface ToolResultMessage {
  readonly role: 'toolResult';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly (TextContent | ImageContent)[];
  readonly details?: unknown;
  readonly isError: boolean;
}

export type Message = UserMessage | AssistantMessage | ToolResultMessage;

export interface Tool<Parameters = unknown> {
  readonly name: string;
  readonly description: string;
  readonly parameters: Parameters;
}

export interface Model<Api> {
  readonly api: Api;
  readonly id: string;
  readonly provider: string;
}

export interface SimpleStreamOptions {
  readonly signal?: AbortSignal;
}

export interface Context {
  readonly systemPrompt?: string;
  readonly messages: Message[];
  readonly tools?: Tool[];
}

/** The last event of an answer, after which `result` has it. */
export type AssistantMessageEvent =
  | { readonly type: 'done'; readonly reason: 'stop' | 'length' | 'toolUse'; readonly message: AssistantMessage }
  | { readonly type: 'error'; readonly reason: 'error' | 'aborted'; readonly error: AssistantMessage };

export interface AssistantMessageEventStream extends AsyncIterable<AssistantMessageEvent> {
  result(): Promise<AssistantMessage>;
}

export declare class EventStream<Event, Result> {
  constructor(isComplete: (event: Event) => boolean, extractResult: (event: Event) => Result);
}

export declare function streamSimple(model: Model<unknown>, context: Context, options?: SimpleStreamOptions): AssistantMessageEventStream;

export declare function validateToolArguments(tool: Tool, call: ToolCall): unknown;
