/**
 * An address as it is recorded: in one spelling, so that two spellings of it count as one. What a URL can say of a user
 * and a password would be a secret in the journal.
 */

/** What would be right, to be read after "must be". */
export const BASE_URL = 'an http or https URL without a user, a query or a fragment';

// What a parser passes over: the marks of an empty query or fragment, and blanks, line breaks and other controls.
const PASSED_OVER = /[?#\s\p{Cc}]/u;

/** Null where the text is no such URL. */
export function parseBaseUrl(text: string): string | null {
  const url = !PASSED_OVER.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  if ([url.username, url.password, url.search, url.hash].some((part) => part !== '')) return null;
  return url.href.replace(/\/+$/, '');
}
