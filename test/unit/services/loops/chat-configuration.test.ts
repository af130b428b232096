import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../machines/messages.ts';
import { chatConfigurationProblem } from '../../../../services/loops/chat-configuration.ts';
import { loopRegistry } from '../../../../services/loops/loop-registry.ts';

describe('the configuration of chat', () => {
  it.each<JsonObject>([
    {},
    { max_output_tokens: 1, temperature: 0, reasoning_effort: 'minimal' },
    { temperature: 2 },
    { reasoning_effort: 'high' },
  ])('takes %j', (configuration) => {
    expect(chatConfigurationProblem(configuration)).toBeNull();
  });

  it.each<[string, JsonObject]>([
    ['/max_output_tokens', { max_output_tokens: 0 }],
    ['/max_output_tokens', { max_output_tokens: 1.5 }],
    ['/max_output_tokens', { max_output_tokens: '5' }],
    ['/temperature', { temperature: 2.1 }],
    ['/temperature', { temperature: null }],
    ['/reasoning_effort', { reasoning_effort: 'huge' }],
    ['/reasoning_effort', { max_output_tokens: 5, reasoning_effort: 1 }],
  ])('L-030: refuses at %s %j', (field, configuration) => {
    expect(chatConfigurationProblem(configuration)).toMatchObject({ field, message: expect.stringContaining('must be') as string });
  });

  it.each([
    ['/colour', 'colour'],
    ['/constructor', 'constructor'],
    ['/a~1b~0', 'a/b~'],
  ])('refuses an unknown field by its name, at %s', (field, name) => {
    expect(chatConfigurationProblem({ [name]: 1 })).toEqual({ field, message: `${name} is no setting of the loop chat` });
  });
});

describe('the loops of this server', () => {
  it('have chat with its check, and no other', () => {
    const chat = loopRegistry.find('chat');

    expect(chat?.loop.name).toBe('chat');
    expect(chat?.configurationProblem({ x: 1 })).not.toBeNull();
    expect(loopRegistry.find('other')).toBeNull();
  });
});
