/** What can be asked of a session: plain data, decided by `decide.ts`. The turn's own name the message whose turn it is. */
import type { JsonValue, Message, ToolOutcome, UserInput } from './messages.ts';
import type { OpenOutcome, TurnEnding } from './close-turn.ts';
import type {
  CancelBy,
  EffectOutcome,
  EndMode,
  EnvironmentReceipt,
  FinishReason,
  MessageMode,
  Origin,
  RequestDifference,
  Sequence,
  SessionCreated,
  SideEffect,
  Usage,
} from './records.ts';

export type SessionCommand =
  | { readonly kind: 'create'; readonly created: SessionCreated; readonly transcript: readonly Message[] }
  /** `key`: names the message for the session's life. One that is known is answered before anything is decided. */
  | { readonly kind: 'send'; readonly input: UserInput; readonly mode: MessageMode; readonly key?: string }
  /** Takes the message that is recorded at `waiting` off the queue. */
  | { readonly kind: 'withdraw'; readonly waiting: Sequence }
  | { readonly kind: 'cancel'; readonly by: CancelBy }
  | { readonly kind: 'end'; readonly mode: EndMode }
  | { readonly kind: 'resume' }
  | { readonly kind: 'delete' }
  /** Null takes a name away. What stays as it was is no change. */
  | { readonly kind: 'change_metadata'; readonly changes: Readonly<Record<string, string | null>> }
  | { readonly kind: 'suspend' }
  /** How a setup, a detach or a teardown ended. The last one of a creation or of an end is what completes it. */
  | { readonly kind: 'end_environment_operation'; readonly started_sequence: Sequence; readonly result: EnvironmentResult };

export type EnvironmentResult =
  | { readonly kind: 'done'; readonly receipt: EnvironmentReceipt }
  | { readonly kind: 'failed'; readonly outcome: EffectOutcome; readonly code: string; readonly message: string };

interface OfTurn {
  readonly message_sequence: Sequence;
}

export type TurnCommand = OfTurn &
  (
    | { readonly kind: 'start_activation'; readonly agentloop: string }
    | {
        readonly kind: 'start_model_call';
        readonly provider: string;
        readonly model: string;
        readonly messages: readonly Message[];
        readonly difference: RequestDifference;
      }
    | {
        readonly kind: 'end_model_call';
        readonly started_sequence: Sequence;
        readonly message: Message;
        readonly finish_reason: FinishReason;
        readonly usage?: Usage;
      }
    | {
        readonly kind: 'fail_model_call';
        readonly started_sequence: Sequence;
        readonly outcome: EffectOutcome;
        readonly code: string;
        readonly message: string;
        readonly usage?: Usage;
      }
    | { readonly kind: 'start_tool_calls'; readonly calls: readonly ToolCallStart[] }
    | {
        readonly kind: 'end_tool_call';
        readonly started_sequence: Sequence;
        readonly outcome: ToolOutcome;
        readonly output: JsonValue;
      }
    | { readonly kind: 'emit'; readonly origin: Origin; readonly name: string; readonly data: JsonValue }
    | { readonly kind: 'set_transcript'; readonly messages: readonly Message[] }
    | { readonly kind: 'put_kv'; readonly key: string; readonly value: JsonValue }
    | { readonly kind: 'delete_kv'; readonly key: string }
    | { readonly kind: 'close_turn'; readonly ending: TurnEnding; readonly open: OpenOutcome }
  );

export interface ToolCallStart {
  readonly tool: string;
  readonly tool_use_id: string;
  readonly input_text: string;
  readonly input?: JsonValue;
  /** Epoch milliseconds; null without a bound. */
  readonly deadline: number | null;
  readonly effect: SideEffect;
}

export type Command = SessionCommand | TurnCommand;
