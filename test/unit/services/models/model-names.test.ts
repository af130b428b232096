/** What models take, told from their names. */
import { describe, expect, it } from 'vitest';
import { outputTokensOf, takesTemperature } from '../../../../services/models/anthropic-models.ts';
import { reasoningOf } from '../../../../services/models/openai-responses-models.ts';

describe('a model of Anthropic', () => {
  it.each([
    ['claude-3-haiku-20240307', 4096, 4096],
    ['claude-3-7-sonnet-latest', 4096, 1_000_000],
    ['claude-2.1', 4096, 1_000_000],
    ['claude-opus-4-20250514', 32_000, 32_000],
    ['claude-opus-4-1', 32_000, 32_000],
    ['claude-sonnet-4-20250514', 64_000, 64_000],
    ['claude-haiku-4-5', 64_000, 64_000],
    ['us.anthropic.claude-opus-4-6-v1', 128_000, 128_000],
    ['claude-sonnet-5', 128_000, 128_000],
    ['claude-of-a-later-time', 128_000, 1_000_000],
    ['another/model', 4096, 1_000_000],
  ])('%s says %i tokens where nobody asks for a number, and of a million %i', (model, usual, ofMillion) => {
    expect(outputTokensOf(model, { asked: undefined, thinking: undefined })).toBe(usual);
    expect(outputTokensOf(model, { asked: 1_000_000, thinking: undefined })).toBe(ofMillion);
    expect(outputTokensOf(model, { asked: 10, thinking: undefined })).toBe(10);
  });

  it('thinks on top of what it is asked to say, as far as it can', () => {
    const thinking = { type: 'enabled', budget_tokens: 16_384 } as const;

    expect(outputTokensOf('claude-sonnet-4-5', { asked: 100, thinking })).toBe(16_484);
    expect(outputTokensOf('claude-sonnet-4-5', { asked: 60_000, thinking })).toBe(64_000);
    expect(outputTokensOf('claude-sonnet-5', { asked: 100, thinking: { type: 'adaptive' } })).toBe(100);
  });

  it('is sent a temperature where it takes one', () => {
    expect(['claude-3-7-sonnet-latest', 'claude-opus-4-6', 'another/model'].map(takesTemperature)).toEqual([true, true, true]);
    expect(['claude-opus-4-7', 'claude-sonnet-5', 'claude-of-a-later-time'].map(takesTemperature)).toEqual([false, false, false]);
  });
});

describe('a model of OpenAI', () => {
  it.each([
    ['gpt-4o', undefined, { isOn: false, effort: undefined, takesTemperature: true }],
    ['gpt-5-chat-latest', undefined, { isOn: false, effort: undefined, takesTemperature: true }],
    ['some/model', undefined, { isOn: false, effort: undefined, takesTemperature: true }],
    ['some/model', 'low', { isOn: true, effort: 'low', takesTemperature: false }],
    ['o3', undefined, { isOn: true, effort: undefined, takesTemperature: false }],
    ['gpt-5-nano', 'none', { isOn: true, effort: 'none', takesTemperature: false }],
    ['gpt-5.1', 'none', { isOn: true, effort: 'none', takesTemperature: true }],
    ['gpt-5.1', 'low', { isOn: true, effort: 'low', takesTemperature: false }],
    ['gpt-6', 'minimal', { isOn: true, effort: undefined, takesTemperature: false }],
    ['gpt-6-sol', 'none', { isOn: true, effort: 'none', takesTemperature: false }],
  ])('%s with an effort of %s reasons so', (model, effort, expected) => {
    expect(reasoningOf(model, effort)).toEqual(expected);
  });
});
