/**
 * What an agent loop hands over, parsed: a loop could run elsewhere, and what it says is data from outside. Messages are
 * parsed in `plain-messages.ts`.
 */
import { z } from 'zod';
import type { TurnEnding } from '../machines/close-turn.ts';
import type { JsonObject } from '../machines/messages.ts';
import type { Intake } from './intake.ts';

const MESSAGE_CHARACTERS_MAX = 1_000;

const turnResult = z.union([
  z.object({
    kind: z.literal('returned'),
    result: z.union([z.strictObject({ sequence: z.int().positive() }), z.strictObject({ value: z.unknown() })]).optional(),
  }),
  z.object({ kind: z.literal('failed'), code: z.enum(['model_error', 'model_unknown', 'loop_error']), message: z.string() }),
]);

/** How a turn ends by what its loop returned. What is no result is the loop's fault. */
export function endingOf(returned: unknown, intake: Intake): TurnEnding {
  const parsed = turnResult.safeParse(returned);
  if (!parsed.success) return loopError('the agent loop returned something that is no result of a turn');
  const { data } = parsed;
  if (data.kind === 'failed') return { kind: 'failed', code: data.code, message: intake.text(data.message, MESSAGE_CHARACTERS_MAX) };
  if (data.result === undefined) return { kind: 'returned' };
  if ('sequence' in data.result) return { kind: 'returned', result: { sequence: data.result.sequence } };
  const plain = intake.data(data.result.value);
  if (plain.ok) return { kind: 'returned', result: { value: plain.value } };
  return loopError(`the agent loop's result cannot be recorded: ${plain.reason}`);
}

function loopError(message: string): TurnEnding {
  return { kind: 'failed', code: 'loop_error', message };
}

const requestDetails = z.strictObject({
  system: z.string().nullable().exactOptional(),
  tools: z.array(z.string()).exactOptional(),
  parameters: z.record(z.string(), z.json()).exactOptional(),
});

/** A model request but for its messages. */
export interface RequestDetails {
  readonly system?: string | null;
  readonly tools?: readonly string[];
  readonly parameters?: JsonObject;
}

/** What of a model request is not its messages; null where it is none. */
export function requestDetailsOf(plain: unknown): RequestDetails | null {
  const parsed = requestDetails.safeParse(plain);
  return parsed.success ? parsed.data : null;
}
