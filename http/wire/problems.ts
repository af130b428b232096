/** What is wrong with a body or a query, in one line and with a pointer to where. */
import type { z } from 'zod';
import { pointerOf } from './pointer.ts';

export interface Problem {
  /** What is wrong and what would be right, to be read after the name of the place. */
  readonly predicate: string;
  /** A JSON pointer; empty for the whole. */
  readonly field: string;
}

type Issue = z.core.$ZodIssue;

const EXPECTED_IN_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  record: 'a JSON object',
};

/** The first problem that a schema found in a value. */
export function problemIn(value: unknown, error: z.ZodError): Problem {
  const issue = error.issues[0];
  return issue === undefined ? { predicate: 'is not what is expected here', field: '' } : describe(value, issue, []);
}

function describe(value: unknown, issue: Issue, above: readonly PropertyKey[]): Problem {
  const path = [...above, ...issue.path];
  const field = pointerOf(path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return { predicate: 'is not a field that is known here', field: pointerOf([...path, ...issue.keys.slice(0, 1)]) };
    case 'invalid_type':
      return { predicate: typePredicate(valueAt(value, path), EXPECTED_IN_WORDS[issue.expected] ?? issue.expected), field };
    case 'invalid_value': {
      const values = issue.values.map((allowed) => JSON.stringify(allowed)).join(', ');
      return { predicate: typePredicate(valueAt(value, path), issue.values.length > 1 ? `one of ${values}` : values), field };
    }
    case 'invalid_union':
      return describeUnion(value, issue, path);
    case 'invalid_key':
      return { predicate: `has a key that ${issue.issues[0]?.message ?? 'is not accepted'}`, field: pointerOf(path.slice(0, -1)) };
    case 'too_small':
    case 'too_big':
      return { predicate: boundPredicate(issue), field };
    case 'invalid_format':
    case 'custom':
      return { predicate: issue.message, field };
    case 'not_multiple_of':
    case 'invalid_element':
      return { predicate: 'is not what is expected here', field };
  }
}

function describeUnion(
  value: unknown,
  issue: Issue & { readonly code: 'invalid_union' },
  path: readonly PropertyKey[],
): Problem {
  if (issue.discriminator !== undefined && 'options' in issue && Array.isArray(issue.options)) {
    const options = issue.options.map((option) => JSON.stringify(option)).join(', ');
    return { predicate: typePredicate(valueAt(value, path), `one of ${options}`), field: pointerOf(path) };
  }
  const problems = issue.errors.flatMap((branch) => branch.slice(0, 1));
  // The alternative that was meant is the one that got beyond the value's own type.
  const meant = problems.find((problem) => problem.path.length > 0 || problem.code !== 'invalid_type');
  if (meant !== undefined) return describe(value, meant, path);
  const expected = problems.map((problem) =>
    problem.code === 'invalid_type' ? (EXPECTED_IN_WORDS[problem.expected] ?? problem.expected) : '',
  );
  return { predicate: typePredicate(valueAt(value, path), expected.join(' or ')), field: pointerOf(path) };
}

function typePredicate(found: unknown, expected: string): string {
  return found === undefined ? `is missing: it must be ${expected}` : `must be ${expected}`;
}

function boundPredicate(issue: Issue & { readonly code: 'too_small' | 'too_big' }): string {
  const bound = issue.code === 'too_small' ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
  if (issue.origin === 'string') return bound === 'at least 1' ? 'must not be empty' : `must have ${bound} characters`;
  if (issue.origin === 'array') return bound === 'at least 1' ? 'must not be empty' : `must hold ${bound} entries`;
  return `must be ${bound}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = Reflect.get(at, step);
  }
  return at;
}
