/** Frames and what tests ask of them. */
import type { Frame, Journal } from '../../storage/journal.ts';

export const ID = '0123456789abcdef0123456789abcdef';
export const OTHER_ID = 'fedcba9876543210fedcba9876543210';

export function frameOf(firstSequence: number, recordCount: number, text: string): Frame {
  return { firstSequence, recordCount, payload: Buffer.from(text) };
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

export async function collect<T>(items: AsyncIterable<T>, countMax = Infinity): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) {
    collected.push(item);
    if (collected.length >= countMax) break;
  }
  return collected;
}

/** The code that something rejects with; `none` where it does not. */
export async function codeOf(outcome: Promise<unknown>): Promise<unknown> {
  try {
    await outcome;
    return 'none';
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

/** The frames of a journal after a sequence, as the texts that they were made of. */
export async function textsOf(journal: Pick<Journal, 'read'>, after = 0): Promise<readonly string[]> {
  return (await collect(journal.read(after))).map(({ payload }) => textOf(payload));
}
