/** What a caller gives that cannot be meant, as a program without types may. */
import { describe, expect, it } from 'vitest';
import { Brain, hostEnv, httpEnv, tool } from '../../client/index.ts';
import { json, ScriptedFetch, SESSION } from '../support/scripted-fetch.ts';

const fit = { name: 'order', description: 'Orders.', input: { type: 'object' }, run: () => null };
const network = new ScriptedFetch(() => json(SESSION, 201));
const brain = new Brain({ fetch: network.fetch });

/** As it is without a compiler. */
function untyped(value: unknown): never {
  return value as never;
}

describe('an argument of the wrong kind', () => {
  it.each<readonly [RegExp, () => unknown]>([
    [/^what a tool is must be an object$/, () => tool(untyped(undefined))],
    [/^the name of a tool must be a text/, () => tool(untyped({ ...fit, name: undefined }))],
    [/^the description of the tool order must be a text/, () => tool(untyped({ ...fit, description: undefined }))],
    [/^the input of the tool order must be an object$/, () => tool(untyped({ ...fit, input: undefined }))],
    [/^run of the tool order must be a function$/, () => tool(untyped({ ...fit, run: undefined }))],
    [/^the tools of the environment box must be a list$/, () => hostEnv(untyped({ name: 'box' }))],
    [/^the name of an environment must be a text/, () => httpEnv(untyped({ url: 'https://tools.example', tools: [] }))],
    [/^what a client is made of, unless it is an address, must be an object$/, () => new Brain(untyped(null))],
    [/^what is served must be a list$/, () => brain.serve(untyped(hostEnv({ name: 'box', tools: [] })))],
    [/^environments must be a list$/, () => brain.sessions.create({ environments: untyped('shop') })],
    [/^tools must be a list$/, () => brain.sessions.create({ tools: untyped('order') })],
  ])('is refused by its name: %s', async (words, call) => {
    const refusal: unknown = await Promise.resolve()
      .then(call)
      .catch((error: unknown) => error);

    expect(refusal).toBeInstanceOf(TypeError);
    expect((refusal as TypeError).message).toMatch(words);
    expect(network.sent).toEqual([]);
  });

  it('is refused also where it is the type of an answer', async () => {
    const sent = new ScriptedFetch(() => json(SESSION, 201));
    const session = await new Brain({ fetch: sent.fetch }).sessions.create();

    await expect(session.send('hello', { output: untyped({}) })).rejects.toThrow(/^output\.type must be an object$/);
    await expect(session.send('hello', { output: untyped(null) })).rejects.toThrow(/^output must be an object$/);
    expect(sent.sent).toHaveLength(1);
  });
});
