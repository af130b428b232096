/** What the compiler knows of calls, answers and refusals. What it says here, it says when the project is compiled. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  BrainError,
  tool,
  type Brain,
  type ErrorCode,
  type Input,
  type KnownErrorCode,
  type LifecycleSession,
  type LivingEvent,
  type QueuedEvent,
  type RecordedEvent,
  type Session,
  type StructuredOutputError,
  type Tool,
  type TurnAnswer,
  type TurnReceipt,
} from '../../client/index.ts';

const base = { name: 'order', description: 'Orders.' };
const order = z.object({ item: z.string(), count: z.number().default(1), note: z.string().optional() });

/** Only compiled. */
export async function compiled(brain: Brain, session: Session, told: LifecycleSession): Promise<void> {
  const turn = await session.send('hello');
  expectTypeOf(turn).toEqualTypeOf<TurnAnswer>();
  expectTypeOf(turn.outcome).toEqualTypeOf<'ended' | 'failed'>();
  expectTypeOf(turn.result?.text).toEqualTypeOf<string | undefined>();
  expectTypeOf(turn.error?.message).toEqualTypeOf<string | undefined>();
  // @ts-expect-error a turn without a type has no output
  void turn.output;

  const typed = await session.send('Which?', { output: { type: order, maxRetries: 1 }, idempotencyKey: 'one' });
  expectTypeOf(typed.output).toEqualTypeOf<{ item: string; count: number; note?: string | undefined }>();
  expectTypeOf(typed.outcome).toEqualTypeOf<'ended' | 'failed'>();
  const parsed = await session.send('Which?', { output: { type: { schema: {}, parse: () => 7 as const } } });
  expectTypeOf(parsed.output).toEqualTypeOf<7>();
  // @ts-expect-error a JSON Schema alone says nothing of a type
  await session.send('Which?', { output: { type: { type: 'object' } } });

  expectTypeOf(await session.submit('hello', { idempotencyKey: 'one' })).toEqualTypeOf<TurnReceipt>();
  // @ts-expect-error nobody would be there to correct it
  await session.submit('Which?', { output: { type: order } });

  expectTypeOf(session.events(3)).toEqualTypeOf<AsyncGenerator<RecordedEvent, void, void>>();
  expectTypeOf(session.stream({ after: 3 })).toEqualTypeOf<AsyncGenerator<RecordedEvent | LivingEvent, void, void>>();
  // @ts-expect-error a cursor here is a sequence
  session.events('3.0');

  expectTypeOf(await told.queue('hello', { key: 'one' })).toEqualTypeOf<QueuedEvent>();
  expectTypeOf<QueuedEvent['type']>().toEqualTypeOf<'user.message'>();
  // @ts-expect-error here a message is text
  await told.queue([{ type: 'text', text: 'hello' }]);

  await brain.sessions.create({ tools: ['wait', tool({ ...base, input: order, run: () => 'done' })], idleTtlMs: null, afterStop: 'hold' });
  // @ts-expect-error there is no such place to stop
  await brain.sessions.create({ afterStop: 'later' });
  // @ts-expect-error a harness is needed there
  await brain.create({ config: { model: 'demo/echo' } });
}

describe('the types', () => {
  it('of what a tool is given are those of what its schema makes', () => {
    const ordering = tool({
      ...base,
      input: order,
      run(input, context) {
        expectTypeOf(input).toEqualTypeOf<{ item: string; count: number; note?: string | undefined }>();
        expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
        expectTypeOf(context.sequence).toEqualTypeOf<number>();
        return input.count;
      },
    });
    tool({ ...base, input: { schema: {}, parse: (value: unknown) => new Date(String(value)) }, run: (input) => expectTypeOf(input).toEqualTypeOf<Date>() });
    // @ts-expect-error a tool says what its input is
    const unsaid = (): Tool => tool({ ...base, run: () => 'done' });
    const reading = tool({ ...base, input: {}, effect: 'read', run: () => 'done' });
    // @ts-expect-error there is no such effect
    const writing = tool({ ...base, input: {}, effect: 'write', run: () => 'done' });

    expectTypeOf(ordering).toEqualTypeOf<Tool>();
    expectTypeOf<NonNullable<Tool['effect']>>().toEqualTypeOf<'read' | 'idempotent' | 'once'>();
    expect([ordering.name, unsaid.name, reading.effect, writing.effect]).toEqual(['order', 'unsaid', 'read', 'write']);
  });

  it('of inputs are a text or blocks', () => {
    const input: Input = [{ type: 'text', text: 'What is this?' }, { type: 'image', url: 'https://pictures.example/1.png', media_type: 'image/png' }];

    // @ts-expect-error a picture has an address
    const nowhere: Input = [{ type: 'image', media_type: 'image/png' }];

    expect([input.length, nowhere.length]).toEqual([2, 1]);
  });

  it('of refusals know the codes of this version, and take others', () => {
    const refusal = new BrainError({ code: 'a_later_code', message: 'no', status: 409, retryable: false });
    const isBusy = (error: BrainError): boolean => error.code === 'session_busy';

    expectTypeOf<'session_busy'>().toExtend<KnownErrorCode>();
    expectTypeOf<'a_later_code'>().not.toExtend<KnownErrorCode>();
    expectTypeOf<'a_later_code'>().toExtend<ErrorCode>();
    expectTypeOf<BrainError['retryAfterMs']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<StructuredOutputError['attempts'][number]['turn']>().toEqualTypeOf<TurnAnswer>();
    expect([refusal.code, isBusy(refusal)]).toEqual(['a_later_code', false]);
  });

  it('of events take those that this version does not know', () => {
    const later = ({ type, data }: RecordedEvent): unknown => {
      if (type === 'turn_started' || type.includes('.')) return null;
      return data;
    };
    // @ts-expect-error what this version knows has its own data
    const wrong: RecordedEvent = { sequence: 1, recorded_at: 1, type: 'turn_ended', data: { message_sequence: 'three' } };
    const ofExtension: RecordedEvent = { sequence: 2, recorded_at: 1, type: 'warehouse.ordered', data: { item: 'lamp' }, origin: { kind: 'tool', sequence: 1 } };

    expectTypeOf<RecordedEvent['origin']>().toExtend<{ readonly kind: 'agentloop' | 'tool'; readonly sequence: number } | undefined>();
    expect([later(JSON.parse('{"type":"a_later_event","data":1}') as RecordedEvent), wrong.type, ofExtension.origin?.kind]).toEqual([1, 'turn_ended', 'tool']);
  });
});
