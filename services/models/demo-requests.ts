/**
 * What a message asks the demo for: a tool by its name (`call NAME {json}`, `use NAME with {json}`), or in words the time, a
 * sum, to wait. English, a few ways of each, and no more.
 */
import type { JsonObject } from '../../machines/messages.ts';

export interface DemoCall {
  readonly tool: string;
  /** As the message has it, so that what is no JSON is told to be none. */
  readonly input_text: string;
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

const TOOL_NAMED = /\b(?:call|use)\s+(?:the\s+)?(?:tool\s+)?[`"']?([\w-]{1,64})[`"']?(?:\s+tool)?(?:\s+with)?\s*/gi;

/** A call, and where the text asks for it. */
interface Asked {
  readonly start: number;
  readonly end: number;
  readonly call: DemoCall;
  /** The tool is named, and given nothing. */
  readonly isBare: boolean;
}

/** The calls of offered tools that a text asks for, in the order in which it asks for them. The time is told once. */
export function demoCallsIn(text: string, offered: readonly string[]): readonly DemoCall[] {
  const named = namedIn(text, offered);
  const given = named.filter(({ isBare }) => !isBare);
  const inWords = spokenIn(without(text, given)).filter(({ call }) => offered.includes(call.tool));
  // "call add 2 and 3" names the tool and gives it numbers in words: that is one call.
  const bare = named.filter((one) => one.isBare && !inWords.some((other) => overlap(one, other)));
  return [...given, ...inWords, ...bare].toSorted((left, right) => left.start - right.start).map(({ call }) => call);
}

function namedIn(text: string, offered: readonly string[]): readonly Asked[] {
  const asked: Asked[] = [];
  for (const match of text.matchAll(TOOL_NAMED)) {
    const [said, tool = ''] = match;
    const start = match.index;
    if (start < (asked.at(-1)?.end ?? 0) || !offered.includes(tool)) continue;
    const inputStart = start + said.length;
    const isBare = text[inputStart] !== '{';
    const end = isBare ? inputStart : endOfObject(text, inputStart);
    asked.push({ start, end, call: { tool, input_text: isBare ? '{}' : text.slice(inputStart, end) }, isBare });
  }
  return asked;
}

/** Where the JSON object that begins here ends; the end of the text where it does not. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInText = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isInText = !isInText;
    else if (isInText && character === '\\') at += 1;
    else if (!isInText && character === '{') depth += 1;
    else if (!isInText && character === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function spokenIn(text: string): readonly Asked[] {
  const found = (match: RegExpExecArray, tool: string, input: JsonObject): Asked => ({
    start: match.index,
    end: match.index + match[0].length,
    call: { tool, input_text: JSON.stringify(input) },
    isBare: false,
  });
  return [
    ...matches(text, TIME_ASKED).slice(0, 1).map((match) => found(match, 'current_time', {})),
    ...matches(text, SUM_ASKED).flatMap((match) => {
      const numbers = numbersIn(match[0]);
      return numbers.every(Number.isFinite) ? [found(match, 'add', { numbers })] : [];
    }),
    ...matches(text, WAIT_ASKED).flatMap((match) => {
      const seconds = secondsOf(match[1] ?? '', match[2] ?? 's');
      return seconds < 0 || !Number.isFinite(seconds) ? [] : [found(match, 'wait', { seconds })];
    }),
  ];
}

function overlap(left: Asked, right: Asked): boolean {
  return left.start < right.end && right.start < left.end;
}

/** The text with these blanked out: what a tool is given asks for nothing by itself. */
function without(text: string, asked: readonly Asked[]): string {
  let rest = '';
  for (const { start, end } of asked) rest += text.slice(rest.length, start) + ' '.repeat(end - start);
  return rest + text.slice(rest.length);
}

function matches(text: string, pattern: RegExp): readonly RegExpExecArray[] {
  return [...text.matchAll(pattern)];
}

function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(new RegExp(NUMBER, 'g'))].map(([number]) => Number(number));
}

function secondsOf(amount: string, unit: string): number {
  const count = /\d/.test(amount) ? Number(amount) : 1;
  if (/^m(?:s|illi)/i.test(unit)) return count / 1000;
  return /^m/i.test(unit) ? count * 60 : count;
}
