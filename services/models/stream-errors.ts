/** What a streamed answer can turn out to be other than an answer. */

/** The provider itself said in the stream that it failed. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';
}

/** A stream that says what cannot be. */
export class MalformedStream extends Error {
  override readonly name = 'MalformedStream';
}

/** The words of an error that a provider sent. */
export function messageOf(said: unknown): string {
  if (typeof said === 'string') return said;
  if (typeof said === 'object' && said !== null && 'message' in said && typeof said.message === 'string') return said.message;
  return 'it gave no reason';
}
