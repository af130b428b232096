/**
 * What a tool says while its call is under way.
 *
 *   L1. What is said after the call's end is neither recorded, shown nor counted against the turn.
 *   L2. The origin of what it emits is the call's own start record, whatever the data says.
 */
import type { JsonValue } from '../../machines/messages.ts';
import type { Sequence } from '../../machines/records.ts';
import type { OperationListener } from '../environments/operation.ts';
import { ServiceError, type ServiceErrorCode } from '../errors.ts';
import type { Extensions } from '../extensions.ts';
import { heard } from '../heard.ts';
import type { Refused } from '../loops/agent-loop.ts';
import type { TurnScope } from '../turn-scope.ts';

// What a tool is at is said in a line.
const PROGRESS_CHARACTERS_MAX = 1_000;

const CODE_OF_REFUSAL: Readonly<Record<Refused['code'], ServiceErrorCode>> = {
  reserved_type: 'reserved_type',
  invalid_request: 'invalid_request',
  emitted_bytes_limit: 'too_large',
  model_call_limit: 'already_closed',
  turn_cancelled: 'already_closed',
};

export class CallListener implements OperationListener {
  readonly #scope: TurnScope;
  readonly #extensions: Extensions;
  readonly #sequence: Sequence;
  #isOver = false;

  constructor(scope: TurnScope, extensions: Extensions, sequence: Sequence) {
    this.#scope = scope;
    this.#extensions = extensions;
    this.#sequence = sequence;
  }

  emit(type: string, data: JsonValue): Promise<void> {
    return heard(this.#emit(type, data));
  }

  progress({ message, fraction }: { readonly message?: string; readonly fraction?: number }): void {
    if (this.#isOver) return;
    const said = message === undefined ? {} : { message: this.#scope.intake.text(String(message), PROGRESS_CHARACTERS_MAX) };
    const done = Number.isFinite(fraction) ? { fraction: Number(fraction) } : {};
    this.#scope.live({ type: 'tool_progress', data: { started_sequence: this.#sequence, ...said, ...done } });
  }

  over(): void {
    this.#isOver = true;
  }

  async #emit(type: string, data: JsonValue): Promise<void> {
    if (this.#isOver) throw new ServiceError('already_closed', 'the call that emits this is over');
    const answer = await this.#extensions.emit({ kind: 'tool', sequence: this.#sequence }, type, data);
    if ('outcome' in answer) throw new ServiceError(CODE_OF_REFUSAL[answer.code], answer.message);
  }
}
