/** A turn's answer, folded from its own records: for whoever waits for it, and for whoever asks again. */
import { textOf } from '../machines/messages.ts';
import type { ChartState, SessionStatus } from '../machines/projections/status.ts';
import type { Sequence, SessionRecord } from '../machines/records.ts';
import type { TurnAnswer } from './session-service.ts';
import { statusOf } from './session-views.ts';

export class TurnAnswerFold {
  readonly #sessionId: string;
  readonly #answers = new Map<Sequence, SessionRecord<'model_call_ended'>>();
  #started: SessionRecord<'turn_started'> | null = null;
  #result: TurnAnswer['result'];

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** Takes the session's records from the turn's start on; answers once the turn is over. */
  apply(record: SessionRecord): TurnAnswer | null {
    switch (record.type) {
      case 'turn_started':
        this.#started ??= record;
        return null;
      case 'model_call_ended':
        this.#answers.set(record.sequence, record);
        return null;
      case 'activation_ended':
        if (record.data.result !== undefined && 'sequence' in record.data.result) {
          this.#result = resultOf(this.#answers.get(record.data.result.sequence));
        }
        return null;
      case 'turn_ended':
      case 'turn_failed':
        return this.#answer(record);
      default:
        return null;
    }
  }

  #answer(record: SessionRecord<'turn_ended' | 'turn_failed'>): TurnAnswer | null {
    if (this.#started?.data.message_sequence !== record.data.message_sequence) return null;
    const common = {
      session_id: this.#sessionId,
      sequence: this.#started.sequence,
      status: statusAfter(record),
      last_sequence: record.sequence,
    };
    if (record.type === 'turn_failed') {
      return { ...common, outcome: 'failed', error: { code: record.data.code, message: record.data.message } };
    }
    return { ...common, outcome: 'ended', ...(this.#result === undefined ? {} : { result: this.#result }) };
  }
}

function resultOf(record: SessionRecord<'model_call_ended'> | undefined): TurnAnswer['result'] {
  if (record === undefined) return undefined;
  const { message, finish_reason, usage } = record.data;
  return { text: textOf(message), message, finish_reason, ...(usage === undefined ? {} : { usage }) };
}

/** What the session is once a turn's last record stands: what follows is in the same commit, and the record says so. */
function statusAfter(record: SessionRecord<'turn_ended' | 'turn_failed'>): SessionStatus {
  if (record.data.end) return 'ended';
  if (record.type === 'turn_ended' && record.data.next !== null) return 'running';
  return statusOf(record.state as ChartState);
}
