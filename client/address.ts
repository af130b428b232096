/** Where the server is and who asks. What is wrong with either is said at once, and never with the secret in it. */

/** The base of every address, without a slash at its end. */
export function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError('the address of Brain must be an http or https URL such as http://127.0.0.1:8080');
  if (url.username !== '' || url.password !== '') throw new TypeError('the address of Brain must hold no name and no password: the key is given beside it');
  if (url.search !== '' || url.hash !== '') throw new TypeError('the address of Brain must have no query and no fragment');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** No token, or an empty one, is for a server that asks for none. */
export function parseToken(token: string | undefined): string | null {
  if (token === undefined || token === '') return null;
  // `fetch` would name the whole header in its error.
  if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError('the key must be printable ASCII without spaces; is there a line break at its end?');
  return token;
}

/** A name as a part of a path. These few would lead elsewhere. */
export function segmentOf(name: string): string {
  if (name === '' || name === '.' || name === '..') throw new TypeError('a name or an id must be one: it is empty, or made of dots');
  return encodeURIComponent(name);
}

export interface Query {
  readonly [name: string]: string | number | undefined;
}

export function pathWith(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`]));
  return given.length === 0 ? path : `${path}?${given.join('&')}`;
}

/** A header takes one character for each byte, and a key is text in UTF-8. */
export function headerText(key: string): string {
  return String.fromCharCode(...new TextEncoder().encode(key));
}
