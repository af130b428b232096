/** The JSON of a request's body, from the JSON of its parts: what a provider said goes back byte for byte. */

/** The object with these fields, each the text of its JSON. What is undefined is left out. */
export function objectJson(fields: Readonly<Record<string, string | undefined>>): string {
  let json = '';
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) json += `${json === '' ? '' : ','}"${name}":${value}`;
  }
  return `{${json}}`;
}

export function listJson(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}

/** The JSON of what may not be there. */
export function jsonOrNothing(value: number | string | object | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
