/**
 * Receipts as environments write them. What an environment answers may say more than is known here, and that is passed
 * over; what it reports of its own accord is a request like any other, and is refused by the name of what is unknown.
 */
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../machines/messages.ts';
import { PLAIN_DATA_DEPTH_MAX, plainData } from '../../machines/plain-data.ts';
import type { Sequence } from '../../machines/records.ts';
import { isDeeperThan } from '../json-depth.ts';
import { ENVIRONMENT_CONTRACT, type FinalReceipt, type Receipt } from './operation.ts';

const CODE_CHARACTERS_MAX = 128;
// For a model and an operator to read: a page, not a dump.
const MESSAGE_CHARACTERS_MAX = 65_536;
// The receipt, and the answer around it.
const ANSWER_DEPTH_MAX = PLAIN_DATA_DEPTH_MAX + 2;

const messageSchema = z.string().max(MESSAGE_CHARACTERS_MAX);

const acceptedSchema = z.strictObject({ type: z.literal('accepted') });
const resultSchema = z.strictObject({
  type: z.literal('result'),
  output: z.custom<JsonValue>((value) => value !== undefined, { error: 'is missing: it must be JSON' }).meta({ description: 'Any JSON value.' }),
});
const failureSchema = z.strictObject({
  type: z.literal('failure'),
  code: z.string().min(1).max(CODE_CHARACTERS_MAX),
  message: messageSchema,
  retryable: z.boolean().meta({ description: 'Whether the same may be asked again. Brain never does so on its own.' }),
  details: z
    .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), { error: 'must be a JSON object' })
    .meta({ type: 'object', description: 'Any JSON object.' })
    .exactOptional(),
});
const unknownSchema = z.strictObject({ type: z.literal('unknown'), message: messageSchema });

/** A receipt after which nothing more is to come. */
export const finalReceiptSchema: z.ZodType<FinalReceipt> = z
  .discriminatedUnion('type', [resultSchema, failureSchema, unknownSchema])
  .meta({ id: 'FinalReceipt', description: '`failure`: it was not done. `unknown`: it may have been done, or in part.' });

/** As a host writes it: to anything but a tool call, `accepted` says that it is done. */
export const receiptSchema: z.ZodType<Receipt> = z.discriminatedUnion('type', [acceptedSchema, resultSchema, failureSchema, unknownSchema]).meta({ id: 'Receipt' });

const answerSchema = z.object({
  contract: z.literal(ENVIRONMENT_CONTRACT),
  sequence: z.int(),
  receipt: z.discriminatedUnion('type', [
    z.object(acceptedSchema.shape),
    z.object(resultSchema.shape),
    z.object(failureSchema.shape),
    z.object(unknownSchema.shape),
  ]),
});

export type ReadAnswer = { readonly ok: true; readonly receipt: Receipt } | { readonly ok: false; readonly reason: string };

/** The receipt in the text of an answer to an operation, or why there is none. Nothing of the text is in the reason. */
export function readAnswer(text: string, sequence: Sequence): ReadAnswer {
  if (isDeeperThan(text, ANSWER_DEPTH_MAX)) return { ok: false, reason: 'it is nested too deeply' };
  const value = parsed(text);
  if (value === undefined) return { ok: false, reason: 'it is no JSON' };
  const plain = plainData(value, ANSWER_DEPTH_MAX);
  if (!plain.ok) return { ok: false, reason: plain.reason };
  const answer = answerSchema.safeParse(plain.value);
  if (!answer.success) return { ok: false, reason: `it is no answer of ${ENVIRONMENT_CONTRACT}: ${problemOf(answer.error)}` };
  if (answer.data.sequence !== sequence) return { ok: false, reason: 'it is the answer to another operation' };
  return { ok: true, receipt: answer.data.receipt };
}

/** The first thing that is wrong, in the words of the schema. */
function problemOf({ issues: [issue] }: z.ZodError): string {
  const field = issue === undefined || issue.path.length === 0 ? 'the answer' : `/${issue.path.join('/')}`;
  return `${field} ${issue?.message.replace(/^Invalid input: /, 'is not as ') ?? ''}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
