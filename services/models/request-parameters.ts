/** What a loop may set for a model call. Brain knows no other parameter, so that none is dropped in silence. */
import { z } from 'zod';
import type { ModelRequest } from './model-provider.ts';
import { UnsupportedContent } from './request-content.ts';

const schema = z.strictObject({
  max_output_tokens: z.int().positive().optional(),
  temperature: z.number().optional(),
  reasoning_effort: z.string().optional(),
});

export type RequestParameters = z.infer<typeof schema>;

export function parametersOf({ parameters }: ModelRequest): RequestParameters {
  if (parameters === undefined) return {};
  const parsed = schema.safeParse(parameters);
  if (!parsed.success) throw new UnsupportedContent('these parameters');
  return parsed.data;
}
