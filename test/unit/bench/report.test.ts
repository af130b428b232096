import { describe, expect, it } from 'vitest';
import { FIGURES, type FigureOf } from '../../../bench/figure-table.ts';
import { Findings } from '../../../bench/findings.ts';
import { reportOf, textOf, verdictOn } from '../../../bench/report.ts';

const MACHINE = { processor: 'a processor', cores: 2, memoryGib: 8, filesystem: 'ext4', disk: 'rotating', node: 'v20', commit: 'abc' };

describe('a verdict', () => {
  it('counts what is asked for itself as reached, and nothing beyond it', () => {
    const little = { wants: 'little', must: 9, aim: 6 } as const;
    expect([5, 6, 6.01, 9, 9.01].map((value) => verdictOn(value, little))).toEqual(['aim', 'aim', 'pass', 'pass', 'FAIL']);
    const much = { wants: 'much', must: 0.12, aim: 0.25 } as const;
    expect([0.3, 0.25, 0.24, 0.12, 0.11].map((value) => verdictOn(value, much))).toEqual(['aim', 'aim', 'pass', 'pass', 'FAIL']);
  });

  it('asks more to reach the aim than it asks for at least, of every figure', () => {
    const figures: readonly FigureOf[] = Object.values(FIGURES);
    for (const { title, target } of figures) if (target !== undefined) expect(verdictOn(target.aim, target), title).toBe('aim');
    for (const { title, target } of figures) if (target !== undefined) expect(verdictOn(target.must, target), title).toBe('pass');
  });
});

describe('a report', () => {
  it('judges a figure by the middle of its rounds, and says nothing of one that was not measured', () => {
    const findings = new Findings();
    for (const value of [5, 8, 70]) findings.add('turn', value);

    const { figures } = report(findings);

    expect(figures).toMatchObject([{ name: 'turn', least: 5, middle: 8, most: 70, count: 3, verdict: 'pass' }]);
  });

  it('gives a figure of which nothing is asked no verdict', () => {
    const findings = new Findings();
    findings.add('turns_64', 900);

    expect(report(findings).figures).toMatchObject([{ verdict: null }]);
  });

  it('shows no percentile of too few samples', () => {
    const findings = new Findings();
    findings.addLatencies('create', Array.from({ length: 40 }, () => 3));

    expect(report(findings).latencies).toEqual([{ name: 'create', count: 40, p50: 3, p90: null, p99: null }]);
    expect(textOf(report(findings))).toMatch(/^create +40 +3\.00 +- +-$/m);
  });

  it('says first that a machine was too noisy where a yardstick moved, and which one', () => {
    const findings = new Findings();
    for (const rate of [2_000, 2_000, 4_000, 8_000]) findings.addEchoRate(rate);
    for (const ms of [1, 1.01, 1.02, 1.01]) findings.addFlush(ms);

    expect(report(findings).isRestless).toBe(true);
    expect(textOf(report(findings)).split('\n')[1]).toBe('TOO NOISY: E64 changed too much while this ran; no verdict below counts');
  });

  it('is quiet about a quiet machine', () => {
    const findings = new Findings();
    for (const ms of [1, 1.01, 1.02, 1.01]) findings.addFlush(ms);

    expect(report(findings).isRestless).toBe(false);
    expect(textOf(report(findings))).not.toContain('NOISY');
  });
});

function report(findings: Findings): ReturnType<typeof reportOf> {
  return reportOf(findings, { machine: MACHINE, form: 'short' });
}
