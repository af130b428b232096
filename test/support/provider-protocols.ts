/** The protocols that providers speak, each with what its provider streams. */
import { anthropic } from '../../services/models/anthropic-provider.ts';
import { openAiChat } from '../../services/models/openai-chat-provider.ts';
import { openAiResponses } from '../../services/models/openai-responses-provider.ts';
import type { ProviderClient } from '../../services/models/provider-call.ts';
import { chatChunk, eventStream } from './stream-server.ts';

export interface Protocol {
  readonly name: string;
  readonly client: ProviderClient;
  /** Under the base URL. */
  readonly path: string;
  /** The header of the key, and what it is with one. */
  readonly authorization: { readonly header: string; readonly withKey: (key: string) => string };
  /** The stream of an answer that says a word. */
  readonly answer: (word: string) => string;
  /** The beginning of one, which says a word and goes on. */
  readonly beginning: (word: string) => string;
  /** The event by which the provider says that it failed. */
  readonly failure: (message: string) => string;
}

export const OPENAI_CHAT: Protocol = {
  name: 'openai-chat',
  client: openAiChat(),
  path: '/chat/completions',
  authorization: { header: 'authorization', withKey: (key) => `Bearer ${key}` },
  answer: (content) => eventStream([chatChunk({ content }, 'stop')]),
  beginning: (content) => `data: ${JSON.stringify(chatChunk({ content }))}\n\n`,
  failure: (message) => `data: ${JSON.stringify({ error: { message, type: 'server_error' } })}\n\n`,
};

export const ANTHROPIC: Protocol = {
  name: 'anthropic',
  client: anthropic(),
  path: '/messages',
  authorization: { header: 'x-api-key', withKey: (key) => key },
  answer: (word) => typedStream([...anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: word }])].concat(anthropicEnd('end_turn')), anthropicStart()),
  beginning: (word) => typedStream(anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: word }]).slice(0, -1), anthropicStart()),
  failure: (message) => typedStream([{ type: 'error', error: { type: 'overloaded_error', message } }]),
};

export const OPENAI_RESPONSES: Protocol = {
  name: 'openai-responses',
  client: openAiResponses(),
  path: '/responses',
  authorization: { header: 'authorization', withKey: (key) => `Bearer ${key}` },
  answer: (word) => typedStream([...responsesMessage(0, word), responsesEnd()], responsesStart()),
  beginning: (word) => typedStream(responsesMessage(0, word).slice(0, 2), responsesStart()),
  failure: (message) =>
    typedStream([{ type: 'response.failed', sequence_number: 9, response: { error: { code: 'server_error', message } } }]),
};

export const PROTOCOLS: readonly Protocol[] = [OPENAI_CHAT, ANTHROPIC, OPENAI_RESPONSES];

export interface TypedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Events as a provider streams them that names each by its type. */
export function typedStream(events: readonly TypedEvent[], start?: TypedEvent): string {
  return [...(start === undefined ? [] : [start]), ...events].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

export function anthropicStart(usage: object = { input_tokens: 7, output_tokens: 1 }): TypedEvent {
  return { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage } };
}

export function anthropicBlock(index: number, content_block: object, deltas: readonly object[] = []): readonly TypedEvent[] {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta): TypedEvent => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

export function anthropicEnd(stop_reason: string | null, usage: object = { output_tokens: 3 }): readonly TypedEvent[] {
  return [{ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }, { type: 'message_stop' }];
}

export function responsesStart(): TypedEvent {
  return { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'm', status: 'in_progress' } };
}

/** An item that comes in pieces and then as a whole. */
export function responsesItem(output_index: number, whole: { readonly type: string; readonly [field: string]: unknown }, pieces: readonly TypedEvent[]): readonly TypedEvent[] {
  const item_id = `item_${output_index}`;
  const item = { id: item_id, ...whole };
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, ...EMPTY_ITEMS[whole.type] } },
    ...pieces.map((piece): TypedEvent => ({ output_index, item_id, ...piece })),
    { type: 'response.output_item.done', output_index, item },
  ];
}

const EMPTY_ITEMS: Readonly<Record<string, object>> = {
  message: { content: [], status: 'in_progress' },
  reasoning: { summary: [] },
  function_call: { arguments: '', status: 'in_progress' },
};

export function responsesMessage(output_index: number, text: string): readonly TypedEvent[] {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return responsesItem(output_index, { type: 'message', id: `msg_${output_index}`, role: 'assistant', status: 'completed', content }, [
    { type: 'response.output_text.delta', content_index: 0, delta: text },
  ]);
}

export function responsesCall(output_index: number, text: string, more: object = {}): readonly TypedEvent[] {
  const call = { type: 'function_call', id: `fc_${output_index}`, call_id: `call_${output_index}`, name: 'add', arguments: text, status: 'completed', ...more };
  return responsesItem(output_index, call, [...text].map((delta): TypedEvent => ({ type: 'response.function_call_arguments.delta', delta })));
}

export function responsesEnd(more: object = {}, type = 'response.completed'): TypedEvent {
  return { type, response: { id: 'resp_1', status: 'completed', ...more } };
}
