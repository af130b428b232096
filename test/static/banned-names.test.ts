import { describe, expect, it } from 'vitest';
import { ALLOWANCES, type Allowance } from './allowed-names.ts';
import { bannedNames } from './banned-names.ts';
import { printed, projectSources, sampleSources, type Violation } from './program.ts';

describe('the project', () => {
  const violations = bannedNames(projectSources());

  it('reaches clocks, timers, chance, files and the network through its ports only, and keeps no state in modules', () => {
    const unexplained = violations.filter((violation) => !ALLOWANCES.some((allowance) => covers(allowance, violation)));

    expect(printed(unexplained)).toEqual([]);
  });

  it('uses every allowance that it has', () => {
    const idle = ALLOWANCES.flatMap((allowance) =>
      allowance.rules
        .filter((rule) => !violations.some((violation) => violation.rule === rule && covers(allowance, violation)))
        .map((rule) => `${allowance.path} ${rule}`),
    );

    expect(idle).toEqual([]);
  });
});

describe('the check of names', () => {
  it('sees the world behind every way to reach it', () => {
    const samples: readonly (readonly [text: string, rules: readonly string[]])[] = [
      [`export const now = () => Date.now();`, ['Date']],
      [`export const now = () => globalThis.performance.now();`, ['globalThis', 'performance']],
      [`export const now = () => globalThis['Date'].now();`, ['globalThis']],
      [`export const wait = () => { setTimeout(() => {}, 1); setInterval(() => {}, 1); };`, ['setTimeout', 'setInterval']],
      [`import { setImmediate as soon } from 'node:timers'; export const x = soon;`, ['node:timers', 'setImmediate']],
      [`import { setTimeout as wait } from 'node:timers/promises'; export const x = wait;`, ['node:timers/promises', 'setTimeout']],
      [`export const draw = () => Math.random();`, ['Math.random']],
      [`const { random } = Math; export const draw = random;`, ['Math.random']],
      [`const { random: dice } = Math; export const draw = dice;`, ['Math.random']],
      [`import { randomUUID } from 'node:crypto'; export const x = randomUUID();`, ['crypto.randomUUID', 'crypto.randomUUID']],
      [`import * as c from 'node:crypto'; export const x = () => c.randomBytes(8);`, ['crypto.randomBytes']],
      [`export const x = () => crypto.getRandomValues(new Uint8Array(4));`, ['crypto.getRandomValues']],
      [`export const signal = () => AbortSignal.timeout(5);`, ['AbortSignal.timeout']],
      [`export const say = () => console.log('x');`, ['console']],
      [`import process from 'node:process'; export const e = () => process.env;`, ['node:process', 'process', 'process']],
      [`export const get = () => fetch('http://127.0.0.1');`, ['fetch']],
      [`import { readFileSync } from 'node:fs'; export const x = readFileSync;`, ['node:fs']],
      [`export const load = (name: string) => import(name);`, ['dynamic import']],
    ];

    expect(rulesOfEach(samples.map(([text]) => text))).toEqual(samples.map(([, rules]) => rules));
  });

  it('lets a name alone that only looks like one of the world', () => {
    expect(
      rulesOf(
        'services/a.ts',
        `import type { IncomingMessage } from 'node:http';
         interface Job { process: string; performance: number; timeout: number; random(): number }
         export function run(job: Job, fetch: () => string, request: IncomingMessage): string {
           const { process } = job;
           return process + job.performance + job.timeout + job.random() + fetch() + request.url;
         }
         export const made: Job = { process: 'a', performance: 1, timeout: 2, random: () => 3 };`,
      ),
    ).toEqual([]);
  });

  it('sees what a module remembers', () => {
    const samples: readonly (readonly [text: string, rules: readonly string[]])[] = [
      [`let count = 0; export const next = () => ++count;`, ['module-level variable']],
      [`const seen = new Map<string, number>(); export const size = () => seen.size;`, ['module-level mutable collection']],
      [`export const list: string[] = [];`, ['module-level mutable collection']],
      [`const held = { last: '' }; export const x = (s: string) => { held.last = s; };`, ['module-level object that changes']],
      [`const held = { by: [0] }; export const x = () => { held.by[0]++; };`, ['module-level object that changes']],
      [`const held: { a?: 1 } = { a: 1 }; export const x = () => delete held.a;`, ['module-level object that changes']],
      [`export class A { static count = 0; static readonly NAME = 'a'; }`, ['static field that changes']],
    ];

    expect(rulesOfEach(samples.map(([text]) => text))).toEqual(samples.map(([, rules]) => rules));
  });

  it('lets a module have constants', () => {
    expect(
      rulesOf(
        'services/a.ts',
        `const NAMES: readonly string[] = ['a'];
         const KNOWN: ReadonlySet<string> = new Set(NAMES);
         const PAIR = ['a', 1] as const;
         const TABLE: Readonly<Record<string, number>> = { a: 1 };
         export function look(name: string): number {
           let found = 0;
           const own = new Map<string, number>();
           own.set(name, 1);
           if (KNOWN.has(name)) found = TABLE[name] ?? PAIR[1];
           return found;
         }`,
      ),
    ).toEqual([]);
  });

  it('sees asynchrony in the machines, where nothing waits', () => {
    const text = `export async function wait(p: Promise<void>): Promise<void> { await p; }`;

    expect(new Set(rulesOf('machines/a.ts', text))).toEqual(new Set(['async']));
    expect(rulesOf('services/a.ts', text)).toEqual([]);
  });
});

/** The rules that each text breaks, as a file of the services. */
function rulesOfEach(texts: readonly string[]): readonly (readonly string[])[] {
  const violations = bannedNames(sampleSources(Object.fromEntries(texts.map((text, index) => [`services/${index}.ts`, text]))));
  return texts.map((_, index) => violations.filter(({ file }) => file === `services/${index}.ts`).map(({ rule }) => rule));
}

function rulesOf(file: string, text: string): readonly string[] {
  return bannedNames(sampleSources({ [file]: text })).map(({ rule }) => rule);
}

function covers(allowance: Allowance, { file, rule }: Violation): boolean {
  const within = allowance.path.endsWith('/') ? file.startsWith(allowance.path) : file === allowance.path;
  return within && allowance.rules.includes(rule);
}
