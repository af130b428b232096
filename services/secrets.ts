/**
 * The secrets that are in use, and their search in text: what comes from outside (a model, a tool, a loop, an error)
 * may hold one, and must not be recorded, shown or logged with it.
 *
 *   X1. The server's own secrets are looked for everywhere; a tenant's in that tenant's sessions alone. Otherwise a tenant
 *       could blank any text in the sessions of all others by storing it as a credential.
 *   X2. Only secrets of some length are looked for: shorter ones are ordinary words, and their absence would tell them.
 *   X3. A secret is found as it is, and as JSON or a URL would spell it.
 *   X4. Where nothing is looked for nothing is spent. What never changes is looked through once, and again when other
 *       secrets are in use.
 */
import type { JsonValue } from '../machines/messages.ts';

// A key of a provider is longer. Sixteen characters hardly occur by chance.
const SECRET_CHARACTERS_MIN = 16;

/** Stands where a secret stood. */
export const REMOVED = '[secret removed]';

/** What is looked for. It never changes: when other secrets are in use it is another one. */
interface Sought {
  readonly forms: readonly string[];
  /** The frozen values in which none of them stands. */
  readonly absentFrom: WeakSet<object>;
}

export class Secrets {
  readonly #server: Sought;
  /** Each with the server's own among it. */
  readonly #tenants = new Map<string, SecretSet>();

  constructor(server: readonly (string | undefined)[]) {
    this.#server = soughtOf(formsOf(server.filter((secret) => secret !== undefined)));
  }

  /** A tenant's secret is in use until the answer is called; several may use the same one. */
  hold(tenant: string, secret: string): () => void {
    const set = this.#tenants.get(tenant) ?? new SecretSet(this.#server);
    this.#tenants.set(tenant, set);
    set.add(secret);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      set.remove(secret);
      if (set.isEmpty && this.#tenants.get(tenant) === set) this.#tenants.delete(tenant);
    };
  }

  /** What is looked for in the sessions of a tenant, as it is whenever it is asked. */
  of(tenant: string): SecretSearch {
    return new SecretSearch(() => this.#tenants.get(tenant)?.sought ?? this.#server);
  }

  /** What is looked for in what no tenant reads. */
  get all(): SecretSearch {
    return new SecretSearch(() => soughtOf([...this.#server.forms, ...[...this.#tenants.values()].flatMap(({ sought }) => sought.forms)]));
  }
}

/** Secrets, counted, beside others that are always looked for. */
class SecretSet {
  readonly #others: Sought;
  readonly #counts = new Map<string, number>();
  sought: Sought;

  constructor(others: Sought) {
    this.#others = others;
    this.sought = others;
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  add(secret: string): void {
    const count = this.#counts.get(secret) ?? 0;
    this.#counts.set(secret, count + 1);
    if (count === 0) this.#refresh();
  }

  remove(secret: string): void {
    const count = this.#counts.get(secret) ?? 0;
    if (count > 1) {
      this.#counts.set(secret, count - 1);
      return;
    }
    this.#counts.delete(secret);
    this.#refresh();
  }

  #refresh(): void {
    this.sought = soughtOf([...this.#others.forms, ...formsOf([...this.#counts.keys()])]);
  }
}

/** What texts are searched for. */
function formsOf(secrets: readonly string[]): readonly string[] {
  const searched = secrets.filter((secret) => secret.length >= SECRET_CHARACTERS_MIN && secret !== REMOVED);
  return searched.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())]);
}

/** The longest first: one secret may begin with another, and the rest of the longer one would be left. */
function soughtOf(forms: readonly string[]): Sought {
  return { forms: [...new Set(forms)].toSorted((a, b) => b.length - a.length), absentFrom: new WeakSet() };
}

export class SecretSearch {
  readonly #sought: () => Sought;

  constructor(sought: () => Sought) {
    this.#sought = sought;
  }

  /** Whether anything is looked for. */
  get isOn(): boolean {
    return this.#sought().forms.length > 0;
  }

  /** The text without what is looked for. */
  without(text: string): string {
    let clean = text;
    for (const form of this.#sought().forms) if (clean.includes(form)) clean = clean.replaceAll(form, REMOVED);
    return clean;
  }

  /** Whether anything that is looked for stands in a plain value, in its names too. */
  isIn(value: JsonValue): boolean {
    const { forms } = this.#sought();
    return forms.length > 0 && standsIn(value, forms);
  }

  /** The same of values that are frozen through and through: nothing can come into them after they were looked through. */
  areInFrozen(values: readonly (JsonValue & object)[]): boolean {
    const { forms, absentFrom } = this.#sought();
    if (forms.length === 0) return false;
    for (const value of values) {
      if (absentFrom.has(value)) continue;
      if (standsIn(value, forms)) return true;
      absentFrom.add(value);
    }
    return false;
  }

  /**
   * Pieces that somebody will read as one text, without what is found in that: a secret that stands in several of them
   * is taken out of each.
   */
  withoutAcross(pieces: readonly string[]): readonly string[] {
    const clean = pieces.map((piece) => this.without(piece));
    for (const form of this.#sought().forms) {
      for (let at = clean.join('').indexOf(form); at !== -1; at = clean.join('').indexOf(form)) cutAcross(clean, at, form.length);
    }
    return clean;
  }

  /** How many characters at the end of a text may be the beginning of what is looked for. */
  beginningAtEnd(text: string): number {
    let longest = 0;
    for (const form of this.#sought().forms) {
      const [first = ''] = form;
      let at = text.indexOf(first, Math.max(0, text.length - form.length + 1));
      while (at !== -1 && text.length - at > longest && !form.startsWith(text.slice(at))) at = text.indexOf(first, at + 1);
      if (at !== -1) longest = Math.max(longest, text.length - at);
    }
    return longest;
  }
}

function standsIn(value: JsonValue, forms: readonly string[]): boolean {
  if (typeof value === 'string') return forms.some((form) => value.includes(form));
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item: JsonValue) => standsIn(item, forms));
  return standsIn(Object.keys(value), forms) || standsIn(Object.values(value), forms);
}

/** Takes characters of the joined text out of the pieces that they stand in; the first of these says so. */
function cutAcross(pieces: string[], at: number, length: number): void {
  let start = at;
  let left = length;
  let mark = REMOVED;
  for (const [index, piece] of pieces.entries()) {
    if (start >= piece.length) {
      start -= piece.length;
      continue;
    }
    const taken = Math.min(left, piece.length - start);
    pieces[index] = piece.slice(0, start) + mark + piece.slice(start + taken);
    mark = '';
    left -= taken;
    start = 0;
    if (left === 0) return;
  }
}
