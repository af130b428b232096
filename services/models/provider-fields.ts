/** What a provider needs back, as its client kept it in a block. A seed may hold anything there. */
import type { JsonObject, JsonValue } from '../../machines/messages.ts';

/** The fields; none where it is no object. */
export function fieldsOf(provider: JsonValue | undefined): JsonObject {
  return isObject(provider) ? provider : {};
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
