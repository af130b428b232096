/**
 * The log without the secrets that are in use, and without anything that is written like a token of the tokens file, of
 * which the server knows no more than hashes. Errors become one line of text here: what a serialiser would make of one
 * (its own fields, a request, an answer) is nobody's choice.
 */
import { inspect } from 'node:util';
import type { Log, LogFacts } from './ports.ts';
import { REMOVED, type SecretSearch, type Secrets } from './secrets.ts';
import { withoutTokens } from './token-list.ts';

export function secretFreeLog(log: Log, secrets: Secrets): Log {
  const clean = (facts: LogFacts = {}): LogFacts => {
    const search = secrets.all;
    return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, cleanFact(fact, search)]));
  };
  return {
    debug: (event, facts) => log.debug(event, clean(facts)),
    info: (event, facts) => log.info(event, clean(facts)),
    warn: (event, facts) => log.warn(event, clean(facts)),
    error: (event, facts) => log.error(event, clean(facts)),
  };
}

function cleanFact(fact: unknown, search: SecretSearch): unknown {
  if (typeof fact === 'number' || typeof fact === 'boolean' || fact === null || fact === undefined) return fact;
  if (Array.isArray(fact)) return fact.map((item: unknown) => cleanFact(item, search));
  return withoutTokens(search.without(textOf(fact)), REMOVED);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!(value instanceof Error)) return inspect(value, { breakLength: Infinity });
  const line = String(value);
  return value.cause === undefined ? line : `${line}; caused by ${textOf(value.cause)}`;
}
