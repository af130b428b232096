/** The event types that extensions may not use: Brain's own, of both surfaces, of today and of tomorrow. */
import { isRecordType } from '../machines/records.ts';

const TYPE_CHARACTERS_MAX = 128;
const TYPE_FORM = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$/;

// Every first word that an event of Brain has, or could get: a prefix rule keeps future names free.
const RESERVED_PREFIXES: ReadonlySet<string> = new Set([
  'activation',
  'assistant',
  'brain',
  'environment',
  'extension',
  'kv',
  'message',
  'model',
  'request',
  'session',
  'tool',
  'transcript',
  'turn',
  'user',
]);

/** Why an extension may not emit under this type; null where it may. */
export function refusalOfType(type: string): string | null {
  if (isRecordType(type) || RESERVED_PREFIXES.has(type.split(/[._]/, 1)[0]?.toLowerCase() ?? '')) {
    return `the event type ${JSON.stringify(type.slice(0, TYPE_CHARACTERS_MAX))} is one of Brain's own; use a prefix of your own, as in "acme.note"`;
  }
  if (type.length > TYPE_CHARACTERS_MAX || !TYPE_FORM.test(type)) {
    return `an extension's event type is two or more words of letters, digits, _ and - with dots between, ${TYPE_CHARACTERS_MAX} characters at most, as in "acme.note"`;
  }
  return null;
}
