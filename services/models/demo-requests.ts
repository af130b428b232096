/** What a message asks the demo for: the time, a sum, to wait. English, a few ways of each, and no more. */
import type { JsonObject } from '../../machines/messages.ts';

export interface DemoCall {
  readonly tool: 'current_time' | 'add' | 'wait';
  readonly input: JsonObject;
}

const NUMBER = String.raw`-?\d+(?:\.\d+)?`;
const SUM = String.raw`${NUMBER}(?:\s*(?:\+|\bplus\b)\s*${NUMBER})+`;
const LIST = String.raw`${NUMBER}(?:\s*(?:,\s*and\b|,|\+|\band\b|\bto\b|\bplus\b|\bwith\b)\s*${NUMBER})+`;

const TIME_ASKED =
  /\b(?:what time|current[ _]time|time is it|(?:what is|what's|whats|tell me|give me|show me|know|have|say) the (?:exact )?time|the time(?: now)?(?: please)?\s*(?:[?!.,]|$))/gi;
const SUM_ASKED = new RegExp(String.raw`\b(?:add|adding|sum|sum of|total of)\s+(?:the numbers\s+)?${LIST}|(?<![\d.])${SUM}`, 'gi');
const WAIT_ASKED = new RegExp(
  String.raw`\b(?:wait|pause|sleep)\s+(?:for\s+)?(${NUMBER}|an?\b|one\b)(?:\s*(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m)\b)?`,
  'gi',
);

/** The calls that a text asks for, in the order in which it asks for them. The time is told once. */
export function demoCallsIn(text: string): readonly DemoCall[] {
  const asked = [
    ...matches(text, TIME_ASKED)
      .slice(0, 1)
      .map(({ index }) => ({ index, call: { tool: 'current_time', input: {} } satisfies DemoCall })),
    ...matches(text, SUM_ASKED).flatMap(({ index, match }) => {
      const numbers = numbersIn(match[0]);
      return numbers.every(Number.isFinite) ? [{ index, call: { tool: 'add', input: { numbers } } satisfies DemoCall }] : [];
    }),
    ...matches(text, WAIT_ASKED).flatMap(({ index, match }) => {
      const seconds = secondsOf(match[1] ?? '', match[2] ?? 's');
      return seconds < 0 || !Number.isFinite(seconds) ? [] : [{ index, call: { tool: 'wait', input: { seconds } } satisfies DemoCall }];
    }),
  ];
  return asked.toSorted((left, right) => left.index - right.index).map(({ call }) => call);
}

function matches(text: string, pattern: RegExp): readonly { readonly index: number; readonly match: RegExpMatchArray }[] {
  return [...text.matchAll(pattern)].map((match) => ({ index: match.index, match }));
}

function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(new RegExp(NUMBER, 'g'))].map(([number]) => Number(number));
}

function secondsOf(amount: string, unit: string): number {
  const count = /\d/.test(amount) ? Number(amount) : 1;
  if (/^m(?:s|illi)/i.test(unit)) return count / 1000;
  return /^m/i.test(unit) ? count * 60 : count;
}
