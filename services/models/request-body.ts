/**
 * The request as a library writes it, with the conversation as Brain writes it. Libraries put a conversation into their own
 * words: they reorder blocks, write the arguments of calls anew, and leave out what they do not know. A provider gets back
 * what it said, so the library writes the rest of the body: the model, the tools, the parameters.
 */
import type { ProviderCallOptions, ProviderFetch } from './provider-library.ts';

/** What stands in a library's prompt for the conversation, which replaces it in the body. */
export function noConversation(): ProviderCallOptions['prompt'] {
  return [{ role: 'user', content: [{ type: 'text', text: '-' }] }];
}

export interface BodyChange {
  /** Values by their names, each the text of its JSON. */
  readonly fields: Readonly<Record<string, string>>;
  /**
   * The header of the key, if no key is configured. A library that is given none takes one from the environment, whoever
   * is asked; so it is given a made-up one, which is taken out here.
   */
  readonly withoutHeader: string | null;
}

export function changingBody(fetch: ProviderFetch, { fields, withoutHeader }: BodyChange): ProviderFetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (withoutHeader !== null) headers.delete(withoutHeader);
    return await fetch(input, { ...init, headers: Object.fromEntries(headers), body: withFields(init?.body, fields) });
  };
}

/** Given to a library that insists on a key. Never sent. */
export const MADE_UP_KEY = 'none';

function withFields(body: unknown, fields: Readonly<Record<string, string>>): string {
  const written: unknown = typeof body === 'string' ? JSON.parse(body) : null;
  if (typeof written !== 'object' || written === null) throw new Error('the library wrote no JSON object');
  const others = Object.entries(written)
    .filter(([name, value]) => value !== undefined && !Object.hasOwn(fields, name))
    .map(([name, value]): [string, string] => [name, JSON.stringify(value)]);
  const all = [...others, ...Object.entries(fields)];
  return `{${all.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}
