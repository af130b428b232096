/**
 * A run as a person reads it, and as a program does.
 *
 *   R1. A figure is judged by its middle. Where it was not measured there is no verdict.
 *   R2. A machine too restless to be measured with is said before anything else, and no verdict of that run counts.
 */
import { FIGURES, type FigureName, type FigureOf, type Target } from './figure-table.ts';
import type { Findings } from './findings.ts';
import type { Machine } from './machine.ts';
import { percentile, RESTLESS_OVER, restlessness, spreadOf, type Spread } from './statistics.ts';

export type Verdict = 'aim' | 'pass' | 'FAIL';

interface Row extends FigureOf, Spread {
  readonly name: FigureName;
  readonly verdict: Verdict | null;
}

interface Yardstick {
  readonly name: string;
  readonly unit: string;
  readonly spread: Spread | null;
  readonly restlessness: number;
}

export interface Report {
  readonly machine: Machine;
  readonly form: 'short' | 'long';
  readonly isRestless: boolean;
  readonly yardsticks: readonly Yardstick[];
  readonly figures: readonly Row[];
  readonly latencies: readonly { readonly name: string; readonly count: number; readonly p50: number | null; readonly p90: number | null; readonly p99: number | null }[];
  readonly notes: readonly string[];
}

export function verdictOn(value: number, { wants, must, aim }: Target): Verdict {
  const reaches = (bound: number): boolean => (wants === 'little' ? value <= bound : value >= bound);
  if (reaches(aim)) return 'aim';
  return reaches(must) ? 'pass' : 'FAIL';
}

export function reportOf(findings: Findings, { machine, form }: Pick<Report, 'machine' | 'form'>): Report {
  const yardsticks = [
    { name: 'F', unit: 'ms', values: findings.flushes },
    { name: 'E1', unit: 'ms', values: findings.echoTimes },
    { name: 'E64', unit: '/s', values: findings.echoRates },
  ].map(({ name, unit, values }) => ({ name, unit, spread: spreadOf(values), restlessness: restlessness(values) }));
  return {
    machine,
    form,
    isRestless: yardsticks.some((yardstick) => yardstick.restlessness > RESTLESS_OVER),
    yardsticks,
    figures: figureNames().flatMap((name) => rowOf(name, findings)),
    latencies: [...findings.latencies].map(([name, samples]) => ({
      name,
      count: samples.length,
      p50: percentile(samples, 0.5),
      p90: percentile(samples, 0.9),
      p99: percentile(samples, 0.99),
    })),
    notes: findings.notes,
  };
}

export function textOf({ machine, form, isRestless, yardsticks, figures, latencies, notes }: Report): string {
  const { processor, cores, memoryGib, filesystem, disk, node, commit } = machine;
  const restless = yardsticks.filter((yardstick) => yardstick.restlessness > RESTLESS_OVER).map(({ name }) => name);
  return [
    `${processor}, ${cores} cores, ${memoryGib} GiB; ${filesystem}, ${disk}; Node ${node}; commit ${commit}; ${form} form`,
    ...(isRestless ? [`TOO NOISY: ${restless.join(' and ')} changed too much while this ran; no verdict below counts`] : []),
    '',
    ...table([
      ['yardstick', '', 'middle', 'least', 'most', 'middle half'],
      ...yardsticks.map(({ name, unit, spread, restlessness: part }) => [name, unit, ...cellsOf(spread), `${Math.round(part * 100)} %`]),
    ]),
    '',
    ...table([
      ['figure', '', 'middle', 'least', 'most', 'rounds', 'must', 'aim', ''],
      ...figures.map((row) => [row.title, row.unit, ...cellsOf(row), String(row.count), ...boundsOf(row.target), row.verdict ?? '']),
    ]),
    '',
    ...table([
      ['latency, ms', 'samples', 'p50', 'p90', 'p99'],
      ...latencies.map(({ name, count, p50, p90, p99 }) => [name, String(count), ...[p50, p90, p99].map((value) => (value === null ? '-' : numberText(value)))]),
    ]),
    '',
    ...notes,
    '',
  ].join('\n');
}

function figureNames(): readonly FigureName[] {
  return Object.keys(FIGURES) as FigureName[];
}

function rowOf(name: FigureName, findings: Findings): readonly Row[] {
  const figure: FigureOf = FIGURES[name];
  const spread = spreadOf(findings.figure(name));
  if (spread === null) return [];
  return [{ name, ...figure, ...spread, verdict: figure.target === undefined ? null : verdictOn(spread.middle, figure.target) }];
}

function cellsOf(spread: Spread | null): readonly string[] {
  return spread === null ? ['-', '-', '-'] : [spread.middle, spread.least, spread.most].map(numberText);
}

function boundsOf(target: Target | undefined): readonly string[] {
  if (target === undefined) return ['', ''];
  const sign = target.wants === 'little' ? '≤' : '≥';
  return [`${sign} ${target.must}`, `${sign} ${target.aim}`];
}

/** Three digits that mean something, and never an exponent. */
function numberText(value: number): string {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 6));
}

/** The first column is words, the others are numbers, and stand to the right. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ').trimEnd());
}
