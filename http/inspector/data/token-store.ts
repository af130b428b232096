/** The token that the person entered. It is kept in the tab and gone with it. */
const KEY = 'brain.token';

export function savedToken(): string | null {
  return sessionStorage.getItem(KEY);
}

export function saveToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
}
