/** Messages as a loop gives them: plain data of the shape that every reader of a transcript relies on. */
import type { JsonValue, Message } from '../machines/messages.ts';
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
  return messagesAfter([], plain.value);
}

/**
 * The same of what a loop makes of a transcript. Each message of `kept` passed here before and is frozen since: as many of
 * them as the list begins with are taken as they are, so that a conversation costs what is new in it.
 */
export function plainChange(value: unknown, kept: readonly Message[], intake: Intake): PlainMessages {
  const known = kept.slice(0, sameAtStart(value, kept));
  // Where a secret came into use since, all is searched anew.
  if (!Array.isArray(value) || !intake.areClean(known)) return plainMessages(value, intake);
  const change: JsonValue[] = [];
  for (let index = known.length; index < value.length; index += 1) {
    // One level less than for the list that it stands in.
    const plain = intake.data(value[index], MESSAGE_DEPTH_MAX - 1);
    if (!plain.ok) return plain;
    change.push(plain.value);
  }
  return messagesAfter(known, change);
}

function sameAtStart(value: unknown, kept: readonly Message[]): number {
  if (!Array.isArray(value)) return 0;
  const most = Math.min(value.length, kept.length);
  let same = 0;
  while (same < most && value[same] === kept[same]) same += 1;
  return same;
}

function messagesAfter(known: readonly Message[], list: readonly JsonValue[]): PlainMessages {
  const wrong = list.findIndex((message) => !isMessage(message));
  if (wrong >= 0) return { ok: false, reason: `message ${known.length + wrong} is not a role and a list of content blocks, and nothing else` };
  return { ok: true, messages: [...known, ...(list as unknown as readonly Message[])] };
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
