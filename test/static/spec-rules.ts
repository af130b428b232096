/**
 * Which test holds which rule, read from the names of the tests: a test holds the rules whose numbers its own name or
 * that of a `describe` around it mentions. What is skipped holds nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { nodesIn, PROJECT_ROOT } from './program.ts';

const RULE_NUMBER = /\b[SL]-\d{3}\b/g;
const TEST_FUNCTIONS: ReadonlySet<string> = new Set(['it', 'test', 'describe']);
/** What is still to come; a rule may wait for one of these and for nothing else. */
const LATER_PARTS: readonly string[] = [
  'hosted environments',
  'the TypeScript SDK',
  'loops as Wasm components',
  'the lifecycle API',
  'the Python SDK',
  'several instances',
];
/** Its tests hold rules that ask the documentation to say something. */
const DOCUMENTED = 'test/static/documented-rules.test.ts';
const NOT_RUN: ReadonlySet<string> = new Set(['skip', 'todo', 'skipIf', 'fails']);

export type RuleNumber = string;

/** What is said of each rule: its number and the words, one a line. */
export function rulesIn(text: string): ReadonlyMap<RuleNumber, string> {
  return new Map(
    text
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(0, 5), line.slice(6)] as const),
  );
}

/** What is wrong with the list of rules to come: a rule is held, or it is on that list, and never both. */
export function faultsOfLater(
  rules: ReadonlyMap<RuleNumber, string>,
  holders: ReadonlyMap<RuleNumber, readonly string[]>,
  later: ReadonlyMap<RuleNumber, string>,
): readonly string[] {
  return [
    ...[...rules.keys()].filter((rule) => !holders.has(rule) && !later.has(rule)).map((rule) => `${rule} is held by no test and comes with no later part`),
    ...[...later.keys()].filter((rule) => holders.has(rule)).map((rule) => `${rule} is held: take it off the list`),
    ...[...later.keys()].filter((rule) => !rules.has(rule)).map((rule) => `${rule} is no rule`),
    ...[...later].filter(([, part]) => !LATER_PARTS.includes(part)).map(([rule, part]) => `${rule} comes with "${part}", which is no part that is to come`),
  ];
}

/** The rule numbers that the names of a file's tests mention. */
export function rulesHeldBy(source: ts.SourceFile): readonly RuleNumber[] {
  const names = [...nodesIn(source)].flatMap((node) => {
    const name = ts.isCallExpression(node) ? testName(node) : null;
    return name === null ? [] : [name];
  });
  return [...new Set(names.flatMap((name) => [...name.matchAll(RULE_NUMBER)].map(([number]) => number)))].toSorted();
}

/** Each rule that some test of the tree holds, with the files of those tests. */
export function holdersInTree(): ReadonlyMap<RuleNumber, readonly string[]> {
  const holders = new Map<RuleNumber, string[]>();
  for (const file of testFiles()) {
    const text = readFileSync(path.join(PROJECT_ROOT, file), 'utf8');
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    for (const rule of rulesHeldBy(source)) holders.set(rule, [...(holders.get(rule) ?? []), file]);
  }
  return holders;
}

const BEGIN = '<!-- rules: begin -->';
const END = '<!-- rules: end -->';

/** A page with its section of rules made anew. */
export function withRules(
  page: string,
  rules: ReadonlyMap<RuleNumber, string>,
  holders: ReadonlyMap<RuleNumber, readonly string[]>,
  later: ReadonlyMap<RuleNumber, string>,
): string {
  const [before, rest] = halves(page, BEGIN);
  const [, after] = halves(rest, END);
  const held = [...rules].filter(([rule]) => holders.has(rule));
  const isSaid = ([rule]: readonly [RuleNumber, string]): boolean => holders.get(rule)?.every((file) => file === DOCUMENTED) === true;
  return [
    `${before}${BEGIN}`,
    '',
    `${held.length} of ${rules.size} rules are held, ${held.filter(isSaid).length} of them by what the documentation says.`,
    '',
    '| rule | | held by |',
    '| --- | --- | --- |',
    ...held.filter((one) => !isSaid(one)).map(([rule, words]) => `| ${rule} | ${words} | ${(holders.get(rule) ?? []).map(shown).join(', ')} |`),
    '',
    '### Held by the documentation',
    '',
    `These ask that something be said where a user finds it; ${shown(DOCUMENTED)} holds that it is.`,
    '',
    ...held.filter(isSaid).map(([rule, words]) => `- ${rule} ${words}`),
    '',
    '### Not held yet',
    '',
    ...notHeldIn(rules, holders, later),
    '',
    `${END}${after}`,
  ].join('\n');
}

function notHeldIn(
  rules: ReadonlyMap<RuleNumber, string>,
  holders: ReadonlyMap<RuleNumber, readonly string[]>,
  later: ReadonlyMap<RuleNumber, string>,
): readonly string[] {
  const parts = LATER_PARTS.flatMap((part) => {
    const waiting = ranges([...rules.keys()], (rule) => !holders.has(rule) && later.get(rule) === part);
    return waiting.length === 0 ? [] : [`- With ${part}: ${waiting.join(', ')}.`];
  });
  return parts.length === 0 ? ['None.'] : parts;
}

function shown(file: string): string {
  return `\`${file.replace(/^test\//, '').replace(/(\.test)?\.ts$/, '')}\``;
}

/** Neighbours in the list that are all wanted, as `S-001 to S-004`. */
export function ranges(rules: readonly RuleNumber[], wanted: (rule: RuleNumber) => boolean): readonly string[] {
  const runs: RuleNumber[][] = [];
  for (const [index, rule] of rules.entries()) {
    if (!wanted(rule)) continue;
    const before = rules[index - 1];
    const last = runs.at(-1);
    if (last !== undefined && before !== undefined && last.at(-1) === before && before[0] === rule[0]) last.push(rule);
    else runs.push([rule]);
  }
  return runs.map((run) => (run.length === 1 ? String(run[0]) : `${run[0]} to ${run.at(-1)}`));
}

function halves(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`the page has no ${mark}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

/** The files of tests, and the suites that several of them run. */
function testFiles(): readonly string[] {
  return readdirSync(path.join(PROJECT_ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${name.split(path.sep).join('/')}`)
    .filter((file) => file.endsWith('.test.ts') || (file.startsWith('test/conformance/') && file.endsWith('.ts')))
    .filter((file) => file !== 'test/static/spec-rules.test.ts')
    .toSorted();
}

/** The name of a test that runs; null for any other call. */
function testName(call: ts.CallExpression): string | null {
  const words = calleeWords(call.expression);
  const [first] = words;
  if (first === undefined || !TEST_FUNCTIONS.has(first) || words.some((word) => NOT_RUN.has(word))) return null;
  const [name] = call.arguments;
  return name !== undefined && (ts.isStringLiteralLike(name) || ts.isTemplateExpression(name)) ? name.getText() : null;
}

/** `it.each(cases)` is `it`, `each`. */
function calleeWords(callee: ts.Expression): readonly string[] {
  if (ts.isIdentifier(callee)) return [callee.text];
  if (ts.isPropertyAccessExpression(callee)) return [...calleeWords(callee.expression), callee.name.text];
  if (ts.isCallExpression(callee)) return calleeWords(callee.expression);
  if (ts.isTaggedTemplateExpression(callee)) return calleeWords(callee.tag);
  return [];
}
