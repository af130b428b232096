/** How a call ended, as it is recorded and as the model is told: whatever came from outside is cleaned here, and bounded. */
import { toolOutputOf } from '../../machines/close-turn.ts';
import type { JsonObject, JsonValue, ToolOutcome } from '../../machines/messages.ts';
import type { SideEffect } from '../../machines/records.ts';
import type { Intake } from '../intake.ts';
import type { ToolAnswer } from './tool-executor.ts';

// A tool says why it failed in a line or a page, not in a dump.
const ERROR_CHARACTERS_MAX = 4_000;

export interface ToolResult {
  readonly outcome: ToolOutcome;
  readonly output: JsonValue;
}

export function resultOfAnswer(answer: ToolAnswer, effect: SideEffect, intake: Intake): ToolResult {
  switch (answer.kind) {
    case 'returned': {
      const plain = intake.data(answer.output);
      return plain.ok
        ? { outcome: 'ok', output: plain.value }
        : { outcome: 'error', output: `the tool ran, but its result cannot be recorded: ${plain.reason}` };
    }
    case 'failed':
      return { outcome: 'error', output: intake.text(answer.message + detailsOf(answer.details, intake), ERROR_CHARACTERS_MAX) };
    case 'unknown': {
      const known = intake.text(answer.message, ERROR_CHARACTERS_MAX);
      const told = toolOutputOf('unknown', effect);
      return { outcome: 'unknown', output: known === '' ? told : `${told} What is known: ${known}` };
    }
  }
}

const OUTPUT_OF_UNTOUCHED = {
  cancelled: 'This call was cancelled before anybody was given it: nothing was done.',
  timeout: 'Nobody was given this call by its deadline: nothing was done.',
} as const;

/** How a call ended that has no answer. `isUntouched`: it is known that nobody was given it. */
export function resultWithoutAnswer(outcome: 'cancelled' | 'timeout' | 'unknown', effect: SideEffect, isUntouched: boolean): ToolResult {
  return { outcome, output: isUntouched && outcome !== 'unknown' ? OUTPUT_OF_UNTOUCHED[outcome] : toolOutputOf(outcome, effect) };
}

function detailsOf(details: JsonObject | undefined, intake: Intake): string {
  if (details === undefined || Object.keys(details).length === 0) return '';
  const plain = intake.data(details);
  return plain.ok ? ` ${JSON.stringify(plain.value)}` : '';
}
