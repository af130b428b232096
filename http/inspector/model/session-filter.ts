/** What the person who looks for a session has entered: a part of its id, or `key=value` of its metadata, or several. */
export interface SessionFilter {
  readonly idParts: readonly string[];
  readonly metadata: readonly (readonly [key: string, value: string])[];
}

export function parseFilter(text: string): SessionFilter {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const pairs = words.filter((word) => word.indexOf('=') > 0).map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] as const);
  // The server takes one value of a key: the last one that was entered.
  return { idParts: words.filter((word) => word.indexOf('=') <= 0), metadata: [...new Map(pairs)] };
}

export function hasIdParts(sessionId: string, { idParts }: SessionFilter): boolean {
  return idParts.every((part) => sessionId.includes(part.toLowerCase()));
}
