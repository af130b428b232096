/** Messages as a loop gives them: plain data of the shape that every reader of a transcript relies on. */
import type { Message } from '../machines/messages.ts';
import { MESSAGE_DEPTH_MAX, plainData } from '../machines/plain-data.ts';
import type { Intake } from './intake.ts';

export type PlainMessages =
  | { readonly ok: true; readonly messages: readonly Message[] }
  | { readonly ok: false; readonly reason: string };

/** `intake`: that of the turn, for what comes from one. A client's own messages are what the client says. */
export function plainMessages(value: unknown, intake?: Intake): PlainMessages {
  const plain = intake === undefined ? plainData(value, MESSAGE_DEPTH_MAX) : intake.data(value, MESSAGE_DEPTH_MAX);
  if (!plain.ok) return plain;
  if (!Array.isArray(plain.value)) return { ok: false, reason: 'messages are a list' };
  const wrong = plain.value.findIndex((message) => !isMessage(message));
  if (wrong >= 0) return { ok: false, reason: `message ${wrong} is not a role and a list of content blocks, and nothing else` };
  return { ok: true, messages: plain.value as unknown as readonly Message[] };
}

// Nothing else: a field more could make it read as a journal's reference to another record's message.
function isMessage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('role' in value) || !('content' in value)) return false;
  if (Object.keys(value).length !== 2 || (value.role !== 'user' && value.role !== 'assistant')) return false;
  return Array.isArray(value.content) && value.content.every(isBlock);
}

function isBlock(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
