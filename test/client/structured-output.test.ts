/** Answers of a type, and their correction. */
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { Brain, StructuredOutputError, type Session } from '../../client/index.ts';
import { LivingServer } from '../support/living-server.ts';
import { saying, ScriptedModel } from '../support/scripted-model.ts';

const person = z.object({ name: z.string(), age: z.number() });

let server: LivingServer;
let session: Session;
let answers: string[];

beforeEach(async () => {
  answers = [];
  const model = new ScriptedModel(() => saying(answers.shift() ?? 'out of answers'));
  server = await LivingServer.open({ model });
  session = await new Brain(server.url).sessions.create({ tools: [] });
});

afterEach(async () => {
  await server.close();
});

/** What the model was last told. */
function lastMessage(): string {
  return JSON.stringify(server.living.model.calls.all.at(-1)?.request.messages.at(-1));
}

async function messagesSent(): Promise<number> {
  return (await server.living.types(session.id)).filter((type) => type === 'message_queued').length;
}

describe('a send for an answer of a type', () => {
  it('asks for the type in the message, and gives the value', async () => {
    answers = ['{"name":"Ada","age":36}'];

    const turn = await session.send('Who?', { output: { type: person } });

    expectTypeOf(turn.output).toEqualTypeOf<{ name: string; age: number }>();
    expect(turn.output).toEqual({ name: 'Ada', age: 36 });
    expect(lastMessage()).toContain('Who?');
    expect(lastMessage()).toContain('required');
  });

  it('waits for a type that takes its time, whichever way it decides', async () => {
    answers = ['{"age":-1}', '{"age":36}'];
    const parse = async (value: unknown): Promise<number> => {
      const { age } = z.object({ age: z.number() }).parse(value);
      if (age < 0) throw new Error('nobody is that young');
      return age;
    };

    const { output } = await session.send('How old?', { output: { type: { schema: {}, parse } } });

    expectTypeOf(output).toEqualTypeOf<number>();
    expect(output).toBe(36);
    expect(lastMessage()).toContain('nobody is that young');
  });

  it.each(['```json\n{"name":"Ada","age":36}\n```', 'Here you are:\n```\n{"name":"Ada","age":36}\n```\nAnything else?', ' \n{"name":"Ada","age":36}\n'])('finds the value in %j', async (text) => {
    answers = [text];

    expect((await session.send('Who?', { output: { type: person } })).output.age).toBe(36);
    expect(await messagesSent()).toBe(1);
  });

  it('asks for a correction, in an ordinary turn, and says what is wrong', async () => {
    answers = ['She is 36.', '{"name":"Ada"}', '{"name":"Ada","age":36}'];

    const { output } = await session.send('Who?', { output: { type: person } });

    expect(output).toEqual({ name: 'Ada', age: 36 });
    expect(lastMessage()).toContain('age');
    expect(await messagesSent()).toBe(3);
  });

  it('gives up after the corrections that it was granted, with all attempts', async () => {
    answers = ['no', 'no', 'no', 'no', 'no'];

    const failure = await session.send('Who?', { output: { type: person } }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StructuredOutputError);
    expect((failure as StructuredOutputError).attempts.map(({ turn }) => turn.result?.text)).toEqual(['no', 'no', 'no']);

    const atOnce = await session.send('Who?', { output: { type: person, maxRetries: 0 } }).catch((error: unknown) => error);
    expect((atOnce as StructuredOutputError).attempts).toHaveLength(1);
  });

  it('asks nothing twice when it is sent again under its key', async () => {
    answers = ['no', '{"name":"Ada","age":36}'];
    const options = { output: { type: person }, idempotencyKey: 'one' };

    const first = await session.send('Who?', options);

    expect(await session.send('Who?', options)).toEqual(first);
    expect(await messagesSent()).toBe(2);
  });

  it('takes a JSON Schema with a function that looks at the value', async () => {
    answers = ['[1]', '[1,2]'];
    const pair = {
      schema: { type: 'array', minItems: 2 },
      parse: (value: unknown): [number, number] => {
        if (Array.isArray(value) && value.length === 2) return value as [number, number];
        throw new Error('two numbers, please');
      },
    };

    const { output } = await session.send('Which?', { output: { type: pair } });

    expectTypeOf(output).toEqualTypeOf<[number, number]>();
    expect(output).toEqual([1, 2]);
    expect(lastMessage()).toContain('two numbers, please');
  });

  it('says that a turn failed in the place of asking it for a correction', async () => {
    server.living.model.script = () => ({ outcome: 'failed', code: 'model_error', message: 'no', retryable: false });

    const failure = await session.send('Who?', { output: { type: person } }).catch((error: unknown) => error);

    expect((failure as StructuredOutputError).attempts).toMatchObject([{ problem: 'the turn failed, model_error' }]);
  });

  it('S-100: exists for send, and a submission refuses it', async () => {
    const options = { output: { type: person } };

    // @ts-expect-error a submission has no output
    await expect(session.submit('Who?', options)).rejects.toThrow('submit takes no output');
    expect(await messagesSent()).toBe(0);
  });
});
