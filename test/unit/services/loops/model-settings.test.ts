import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../machines/messages.ts';
import { loopRegistry } from '../../../../services/loops/loop-registry.ts';

describe.each(['chat', 'pi'])('the configuration of %s', (loop) => {
  const problemOf = (configuration: JsonObject) => loopRegistry.find(loop)?.configurationProblem(configuration);

  it.each<JsonObject>([
    {},
    { max_output_tokens: 1, temperature: 0, reasoning_effort: 'minimal' },
    { temperature: 2 },
    { reasoning_effort: 'high' },
  ])('takes %j', (configuration) => {
    expect(problemOf(configuration)).toBeNull();
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
    expect(problemOf(configuration)).toMatchObject({ field, message: expect.stringContaining('must be') as string });
  });

  it.each([
    ['/colour', 'colour'],
    ['/constructor', 'constructor'],
    ['/a~1b~0', 'a/b~'],
  ])('refuses an unknown field by its name, at %s', (field, name) => {
    expect(problemOf({ [name]: 1 })).toEqual({ field, message: `${name} is no setting of the loop ${loop}` });
  });
});
