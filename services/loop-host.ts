/**
 * The host services of one turn, behind one fence: open, stopped, over. A loop reaches nothing else of Brain.
 *
 *   H1. Once the turn is over everything rejects. A loop that still runs then is on its own.
 *   H2. A loop is not shown what a resume went back behind.
 */
import type { JsonObject, JsonValue } from '../machines/messages.ts';
import { publicEventOf, type PublicEvent } from '../machines/projections/public-events.ts';
import type { Sequence } from '../machines/records.ts';
import type { Command } from '../machines/commands.ts';
import type { EventsAnswer, LoopHost } from './loops/agent-loop.ts';
import type { Extensions } from './extensions.ts';
import { heard } from './heard.ts';
import type { Intake } from './intake.ts';
import type { ModelCalls } from './model-calls.ts';
import { plainChange } from './plain-messages.ts';
import { recordsAfter } from './record-codec.ts';
import type { ToolCalls } from './tool-calls.ts';
import type { TurnScope } from './turn-scope.ts';

const EVENTS_PAGE_BYTES = 1024 * 1024;

export interface TurnServices {
  readonly models: ModelCalls;
  readonly tools: ToolCalls;
  readonly extensions: Extensions;
}

/** `activation`: the loop's own run, the origin of what it emits. */
export function loopHost(scope: TurnScope, activation: Sequence, services: TurnServices): LoopHost {
  const { intake, messageSequence: message_sequence } = scope;
  const assertOpen = (): void => {
    if (scope.isOver) throw new Error('the turn is over');
  };
  const service =
    <A extends readonly unknown[], T>(work: (...given: A) => Promise<T>) =>
    (...given: A): Promise<T> => {
      const answer = async (): Promise<T> => {
        assertOpen();
        return work(...given);
      };
      return heard(answer());
    };
  const save = async (command: Command): Promise<void> => {
    const receipt = await scope.submit(command);
    if (receipt.kind !== 'refused') return;
    throw new Error(receipt.code === 'too_large' ? 'this is too large to be recorded' : 'the turn is over');
  };
  return {
    get signal() {
      return scope.signal;
    },
    events: service((after) => eventsAfter(scope, after)),
    model: service((request) => scope.track(services.models.call(request))),
    dispatch: service((calls) => scope.track(services.tools.dispatch(calls))),
    emit: service((type, data) => services.extensions.emit({ kind: 'agentloop', sequence: activation }, type, data)),
    setTranscript: service(async (given) => {
      const plain = plainChange(given, scope.actor.state.transcript.messages(), intake);
      if (!plain.ok) throw new Error(`this cannot be the transcript: ${plain.reason}`);
      await save({ kind: 'set_transcript', message_sequence, messages: plain.messages });
      return scope.actor.state.transcript.messages();
    }),
    kv: {
      read: service(async (key) => scope.actor.state.keyValues.read(intake.text(key))),
      put: service((key, value) => save({ kind: 'put_kv', message_sequence, key: intake.text(key), value: plainOrThrow(value, intake) })),
      delete: service((key) => save({ kind: 'delete_kv', message_sequence, key: intake.text(key) })),
    },
    telemetry: (given: JsonObject) => {
      assertOpen();
      scope.telemetry(plainOrThrow(given, intake) as JsonObject);
    },
  };
}

function plainOrThrow(value: unknown, intake: Intake): JsonValue {
  const plain = intake.data(value);
  if (!plain.ok) throw new Error(`only plain data can be recorded: ${plain.reason}`);
  return plain.value;
}

async function eventsAfter(scope: TurnScope, after: Sequence): Promise<EventsAnswer> {
  const { dropped } = scope.actor.state;
  const events: PublicEvent[] = [];
  let bytes = 0;
  for await (const frame of scope.actor.history(after)) {
    if (bytes > 0 && bytes + frame.bytes > EVENTS_PAGE_BYTES) return { events, next: frame.firstSequence - 1 };
    bytes += frame.bytes;
    for (const record of recordsAfter(frame, after)) {
      const event = dropped.has(record.sequence) ? null : publicEventOf(record);
      if (event !== null) events.push(event);
    }
  }
  return { events, next: null };
}
