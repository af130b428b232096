/** Where in a value a secret stands. */
import type { SecretSearch } from '../secrets.ts';

/** A JSON pointer to the first text that holds one; empty where it stands in no single text. Null: there is none. */
export function secretIn(search: SecretSearch, value: unknown): string | null {
  if (!search.isOn) return null;
  return fieldIn(search, value, '') ?? (holds(search, JSON.stringify(value)) ? '' : null);
}

function fieldIn(search: SecretSearch, value: unknown, at: string): string | null {
  if (typeof value !== 'object' || value === null) return holds(search, String(value)) ? at : null;
  for (const [key, item] of Object.entries(value)) {
    // The pointer to a key would say it.
    const field = holds(search, key) ? at : fieldIn(search, item, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    if (field !== null) return field;
  }
  return null;
}

function holds(search: SecretSearch, text: string): boolean {
  return search.without(text) !== text;
}
