/**
 * What Anthropic's models take, told from their names: how much they can be asked to say, and how they are told to think.
 * The protocol wants a bound on every answer, and a model refuses one that is above its own.
 */

interface Kind {
  readonly name: RegExp;
  readonly outputTokensMax: number;
  /** Whether the bound is known to be the model's own. */
  readonly isKnown: boolean;
  readonly takesTemperature: boolean;
}

/** The first that fits. */
const KINDS: readonly Kind[] = [
  { name: /claude-(?:opus-5|sonnet-5|haiku-5-5|fable-5|opus-4-[78])/, outputTokensMax: 128_000, isKnown: true, takesTemperature: false },
  { name: /claude-(?:opus|sonnet)-4-6/, outputTokensMax: 128_000, isKnown: true, takesTemperature: true },
  { name: /claude-(?:opus|sonnet|haiku)-4-5|claude-sonnet-4-/, outputTokensMax: 64_000, isKnown: true, takesTemperature: true },
  { name: /claude-opus-4-/, outputTokensMax: 32_000, isKnown: true, takesTemperature: true },
  { name: /claude-3-haiku/, outputTokensMax: 4096, isKnown: true, takesTemperature: true },
  { name: /claude-(?:instant(?:-|$)|v?2(?=$|[-.:])|3(?=$|[-.]))/, outputTokensMax: 4096, isKnown: false, takesTemperature: true },
  // A newer one than these.
  { name: /claude-/, outputTokensMax: 128_000, isKnown: false, takesTemperature: false },
];

/** A model of another maker, of which nothing is known: a bound that all of them can keep. */
const OTHER: Omit<Kind, 'name'> = { outputTokensMax: 4096, isKnown: false, takesTemperature: true };

/** How a model is told to think, in the protocol's words. */
export interface Thinking {
  readonly thinking: { readonly type: 'adaptive' } | { readonly type: 'enabled'; readonly budget_tokens: number };
  readonly output_config?: { readonly effort: string };
}

/** Models from before they thought as much as a question needs are told in tokens. */
const TOKENS_BY_EFFORT: Readonly<Record<string, number>> = { minimal: 1024, low: 2048, medium: 8192, high: 16_384 };
const FIXED_THINKING = /claude-(?:\d|instant|v?2)|(?:opus|sonnet|haiku)-4(?:-[0-5](?!\d)|-\d{8}|[@:]|$)/;

/** Null for an effort that the protocol cannot say. */
export function thinkingOf(model: string, effort: string): Thinking | null {
  const budget_tokens = TOKENS_BY_EFFORT[effort];
  if (budget_tokens === undefined) return null;
  // Models of other makers know the older way, if any.
  if (FIXED_THINKING.test(model) || !model.includes('claude-')) return { thinking: { type: 'enabled', budget_tokens } };
  return { thinking: { type: 'adaptive' }, output_config: { effort: effort === 'minimal' ? 'low' : effort } };
}

export function takesTemperature(model: string): boolean {
  return kindOf(model).takesTemperature;
}

/** The bound of an answer: of what was asked for, or of what the model can say, and what it may think on top of that. */
export function outputTokensOf(model: string, { asked, thinking }: { readonly asked: number | undefined; readonly thinking: Thinking['thinking'] | undefined }): number {
  const { outputTokensMax, isKnown } = kindOf(model);
  const tokens = (asked ?? outputTokensMax) + (thinking?.type === 'enabled' ? thinking.budget_tokens : 0);
  return isKnown ? Math.min(tokens, outputTokensMax) : tokens;
}

function kindOf(model: string): Omit<Kind, 'name'> {
  return KINDS.find(({ name }) => name.test(model)) ?? OTHER;
}
