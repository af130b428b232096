/** The counts that a provider gave. What it did not give is absent, and a zero of its own is a zero. */
import { z } from 'zod';
import type { Usage } from '../../machines/records.ts';

/** A count in a provider's JSON. One that is none counts as not given: it must not cost the answer. */
export const count = z.int().nonnegative().nullish().catch(undefined);

export type Count = z.infer<typeof count>;

export function usageFrom(counts: { readonly [K in keyof Usage]: Count }): { readonly usage?: Usage } {
  const usage: Usage = {
    ...given('input_tokens', counts.input_tokens),
    ...given('input_tokens_cache_read', counts.input_tokens_cache_read),
    ...given('input_tokens_cache_write', counts.input_tokens_cache_write),
    ...given('output_tokens', counts.output_tokens),
    ...given('output_tokens_reasoning', counts.output_tokens_reasoning),
  };
  return Object.keys(usage).length === 0 ? {} : { usage };
}

function given(name: keyof Usage, value: Count): Usage {
  return value === undefined || value === null ? {} : { [name]: value };
}
