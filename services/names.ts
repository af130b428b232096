/** The names that operators and clients give things: tenants, providers, agent loops, environments, credentials. */

export const NAME = '[A-Za-z0-9][A-Za-z0-9._:-]{0,127}';

/** To follow `must be`. */
export const NAME_IN_WORDS = '1 to 128 of A-Z a-z 0-9 . _ : - and begin with a letter or a digit';

const WHOLE_NAME = new RegExp(`^${NAME}$`);

export function isName(text: string): boolean {
  return WHOLE_NAME.test(text);
}
