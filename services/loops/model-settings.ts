/** What a session may configure for a loop: parameters of its model calls, and nothing else. */
import type { JsonObject, JsonValue } from '../../machines/messages.ts';

/** What is wrong with a configuration, and where: a JSON pointer into it. */
export interface ConfigurationProblem {
  readonly field: string;
  readonly message: string;
}

interface Setting {
  readonly isValid: (value: JsonValue) => boolean;
  readonly expected: string;
}

export const REASONING_EFFORTS = ['minimal', 'low', 'medium', 'high'] as const;
/** Providers take no more; some take less. */
export const TEMPERATURE_MAX = 2;

const SETTINGS: Readonly<Record<string, Setting>> = {
  max_output_tokens: {
    isValid: (value) => Number.isSafeInteger(value) && Number(value) > 0,
    expected: 'a whole number above zero',
  },
  temperature: {
    isValid: (value) => typeof value === 'number' && value >= 0 && value <= TEMPERATURE_MAX,
    expected: `a number from 0 to ${TEMPERATURE_MAX}`,
  },
  reasoning_effort: {
    isValid: (value) => REASONING_EFFORTS.some((effort) => effort === value),
    expected: `one of ${REASONING_EFFORTS.join(', ')}`,
  },
};

/** What is wrong with a configuration of the loop of that name; null where nothing is. */
export function modelSettingsProblem(loop: string, configuration: JsonObject): ConfigurationProblem | null {
  for (const [name, value] of Object.entries(configuration)) {
    const field = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
    if (setting === undefined) return { field, message: `${name} is no setting of the loop ${loop}` };
    if (!setting.isValid(value)) return { field, message: `${name} must be ${setting.expected}` };
  }
  return null;
}
