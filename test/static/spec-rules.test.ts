/**
 * `docs/SPEC.md` says which test holds which rule; `docs/rules.txt` says what the rules are, and `docs/rules-later.txt`
 * which of them wait for a part that is to come. After a test has taken up a rule, and the rule is off that list:
 * `npm run spec` writes that part of the page anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from './program.ts';
import { faultsOfLater, holdersInTree, ranges, rulesHeldBy, rulesIn, withRules } from './spec-rules.ts';

const PAGE = path.join(PROJECT_ROOT, 'docs/SPEC.md');
const rules = rulesIn(readFileSync(path.join(PROJECT_ROOT, 'docs/rules.txt'), 'utf8'));
const later = rulesIn(readFileSync(path.join(PROJECT_ROOT, 'docs/rules-later.txt'), 'utf8'));
const holders = holdersInTree();

if (process.env['BRAIN_WRITE_SPEC'] === '1') writeFileSync(PAGE, withRules(readFileSync(PAGE, 'utf8'), rules, holders, later));

describe('docs/SPEC.md', () => {
  it('names for each rule the tests whose names mention it, and no rule as held that no test mentions', () => {
    const page = readFileSync(PAGE, 'utf8');

    expect(page.split('\n'), 'run `npm run spec`').toEqual(withRules(page, rules, holders, later).split('\n'));
  });

  it('names no file that is not there', () => {
    const page = readFileSync(PAGE, 'utf8');
    const named = [...page.matchAll(/`((?:machines|storage|services|http|cli|docs|test)\/[\w./-]+\.(?:ts|md|txt))`/g)];

    expect(named.length).toBeGreaterThan(10);
    expect(named.map(([, file]) => String(file)).filter((file) => !ts.sys.fileExists(path.join(PROJECT_ROOT, file)))).toEqual([]);
  });
});

describe('the names of the tests', () => {
  it('mention no rule that there is not', () => {
    const unknown = [...holders].filter(([rule]) => !rules.has(rule));

    expect(unknown).toEqual([]);
  });

  it('are read as a runner reads them', () => {
    const text = `
      it('S-001: holds', () => {});
      it.each([1])('L-002, S-003: holds %s', () => {});
      test(\`S-004: \${x}\`, () => {});
      describe('S-005 and all below', () => { it('L-006', () => {}); });
      it.skip('S-007: is skipped', () => {});
      it.todo('S-008');
      say('S-009: is no test');
      // it('S-010: is a comment', () => {});
      it('no rule', () => say('S-011'));
    `;
    const source = ts.createSourceFile('a.test.ts', text, ts.ScriptTarget.Latest, true);

    expect(rulesHeldBy(source)).toEqual(['L-002', 'L-006', 'S-001', 'S-003', 'S-004', 'S-005']);
  });
});

describe('the rules', () => {
  it('are numbered without a gap, each with one sentence', () => {
    const numbered = (letter: string, count: number): readonly string[] =>
      Array.from({ length: count }, (_, index) => `${letter}-${String(index + 1).padStart(3, '0')}`);

    expect([...rules.keys()]).toEqual([...numbered('S', 229), ...numbered('L', 129)]);
    expect([...rules.values()].filter((words) => !/^[A-Z`].*\.$/.test(words))).toEqual([]);
  });

  it('are held by a test, unless they wait for a part that is to come', () => {
    expect(faultsOfLater(rules, holders, later)).toEqual([]);
  });

  it('are not held twice over, nor wait for nothing, nor for what nobody knows', () => {
    const [one, two, three] = ['S-001', 'S-002', 'S-003'].map((rule) => [rule, 'Something holds.'] as const);
    const asked = new Map([one, two, three].flatMap((rule) => (rule === undefined ? [] : [rule])));
    const heldByTest = new Map([['S-001', ['a.test.ts']]]);
    const waiting = new Map([
      ['S-001', 'the lifecycle API'],
      ['S-003', 'better days'],
      ['S-999', 'the lifecycle API'],
    ]);

    expect(faultsOfLater(asked, heldByTest, waiting).map((fault) => fault.slice(0, 17))).toEqual(['S-002 is held by ', 'S-001 is held: ta', 'S-999 is no rule', 'S-003 comes with ']);
  });

  it('are put together where neighbours go together, within one letter', () => {
    const all = ['S-001', 'S-002', 'S-003', 'S-004', 'L-001', 'L-002'];

    expect(ranges(all, (rule) => rule !== 'S-002')).toEqual(['S-001', 'S-003 to S-004', 'L-001 to L-002']);
  });
});
