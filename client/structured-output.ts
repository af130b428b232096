/**
 * An answer of a type. The type is asked for in the message itself, and what does not fit is sent back as a further
 * message: the agent loop and Brain know nothing of it, and the journal shows all of it.
 *
 *   O1. Each correction is an ordinary turn, under a key that follows from the first one's: the whole of it can be sent
 *       again, and what was answered is not asked twice.
 */
import type { TurnAnswer } from '../http/wire/answers.ts';
import { assertCallOptions, assertObject, assertRetries } from './call-arguments.ts';
import { StructuredOutputError, type OutputAttempt } from './errors.ts';
import { checkAnswer, jsonSchemaOf, type OutputType } from './output-type.ts';
import type { Input } from './session-types.ts';

const RETRIES = 2;

export interface OutputRequest<T> {
  readonly type: OutputType<T>;
  /** How many corrections are asked for at most. Default: 2. */
  readonly maxRetries?: number;
}

export type StructuredTurn<T> = TurnAnswer & { readonly output: T };

export async function sendForOutput<T>(
  send: (input: Input, idempotencyKey: string) => Promise<TurnAnswer>,
  { input, output, idempotencyKey }: { readonly input: Input; readonly output: OutputRequest<T>; readonly idempotencyKey: string },
): Promise<StructuredTurn<T>> {
  assertObject(output, 'output');
  const { type, maxRetries = RETRIES } = output;
  if (typeof type !== 'function') assertObject(type, 'output.type');
  assertRetries(maxRetries);
  // The longest of the keys.
  if (maxRetries > 0) assertCallOptions({ idempotencyKey: `${idempotencyKey}.${maxRetries}` });
  const attempts: OutputAttempt[] = [];
  let next = withInstruction(input, type);
  for (;;) {
    const turn = await send(next, attempts.length === 0 ? idempotencyKey : `${idempotencyKey}.${attempts.length}`);
    if (turn.result === undefined) {
      const problem = turn.error === undefined ? 'the turn ended without an answer' : `the turn failed, ${turn.error.code}`;
      throw new StructuredOutputError([...attempts, { turn, problem }]);
    }
    const checked = await checkAnswer(type, turn.result.text);
    if (checked.kind === 'valid') return { ...turn, output: checked.value };
    attempts.push({ turn, problem: checked.problem });
    if (attempts.length > maxRetries) throw new StructuredOutputError(attempts);
    next = `Your answer does not fit: ${checked.problem}. Answer again, with the corrected JSON value and nothing else.`;
  }
}

function withInstruction(input: Input, type: OutputType<unknown>): Input {
  const schema = jsonSchemaOf(type);
  const fitting = schema === null ? '' : ` that fits this JSON Schema:\n${JSON.stringify(schema)}`;
  const instruction = `Answer with one JSON value and nothing else${fitting === '' ? '.' : `,${fitting}`}`;
  return typeof input === 'string' ? `${input}\n\n${instruction}` : [...input, { type: 'text', text: instruction }];
}
