/**
 * How OpenAI's models reason, told from their names. They refuse a whole request for a parameter that they do not take,
 * which a loop that was written for another model may have set.
 */

interface Generation {
  readonly major: number;
  /** 0 where the name has none. */
  readonly minor: number;
  /** One of the models behind the chat product, which do not reason. */
  readonly isChat: boolean;
}

const O_SERIES = /^o\d+(?:-|$)/;
const GPT = /^gpt-(\d+)(?:\.(\d+))?(?:-(.+))?$/;

const EFFORTS_SINCE_6: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'];
const WITHOUT_EFFORT_SINCE_6: readonly string[] = ['gpt-6-sol', 'gpt-6-luna', 'gpt-6.1-terra'];

export interface Reasoning {
  readonly isOn: boolean;
  /** The effort to ask for; undefined where none was given, or none that the model knows. */
  readonly effort: string | undefined;
  readonly takesTemperature: boolean;
}

/** Who asks for an effort knows that the model reasons. */
export function reasoningOf(model: string, effort: string | undefined): Reasoning {
  const generation = generationOf(model);
  const isOn = effort !== undefined || O_SERIES.test(model) || (generation !== null && generation.major >= 5 && !generation.isChat);
  const isOffByEffort = effort === 'none' && generation?.major === 5 && generation.minor >= 1;
  return { isOn, effort: isKnownEffort(model, effort, generation) ? effort : undefined, takesTemperature: !isOn || isOffByEffort };
}

function generationOf(model: string): Generation | null {
  const [, major, minor, variant = ''] = GPT.exec(model) ?? [];
  if (major === undefined) return null;
  return { major: Number(major), minor: Number(minor ?? 0), isChat: minor === undefined && variant.startsWith('chat') };
}

function isKnownEffort(model: string, effort: string | undefined, generation: Generation | null): boolean {
  if (effort === undefined || generation === null || generation.major < 6) return true;
  return EFFORTS_SINCE_6.includes(effort) || (effort === 'none' && WITHOUT_EFFORT_SINCE_6.includes(model));
}
