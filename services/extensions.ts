/** A turn's extension events: of its loop and of its tools, with one budget, and an origin that only Brain assigns. */
import { Buffer } from 'node:buffer';
import type { JsonValue } from '../machines/messages.ts';
import type { Origin, Sequence } from '../machines/records.ts';
import type { Refused } from './loops/agent-loop.ts';
import { refusalOfType } from './reserved-types.ts';
import { refused } from './refused.ts';
import type { TurnScope } from './turn-scope.ts';

export class Extensions {
  readonly #scope: TurnScope;
  #bytes = 0;

  constructor(scope: TurnScope) {
    this.#scope = scope;
  }

  /** Records one; resolves when it is durable. */
  async emit(origin: Origin, type: string, given: JsonValue): Promise<{ readonly sequence: Sequence } | Refused> {
    const { intake } = this.#scope;
    const reserved = refusalOfType(type);
    if (reserved !== null) return refused('reserved_type', reserved);
    const name = intake.text(type);
    const plain = intake.data(given);
    if (!plain.ok) return refused('invalid_request', `an event's data must be plain data: ${plain.reason}`);
    const overBudget = this.#spend(Buffer.byteLength(name) + Buffer.byteLength(JSON.stringify(plain.value)));
    if (overBudget !== null) return overBudget;
    const message_sequence = this.#scope.messageSequence;
    const receipt = await this.#scope.submit({ kind: 'emit', message_sequence, origin, name, data: plain.value });
    if (receipt.kind === 'committed') {
      const sequence = receipt.records.find(({ type }) => type === 'extension_emitted')?.sequence;
      if (sequence !== undefined) return { sequence };
    }
    const isTooLarge = receipt.kind === 'refused' && receipt.code === 'too_large';
    return isTooLarge
      ? refused('invalid_request', 'the event is too large to be recorded')
      : refused('turn_cancelled', 'what emits this is over');
  }

  /** The loop and its tools share the turn's budget; going over it fails the turn. */
  #spend(bytes: number): Refused | null {
    const { emittedBytes } = this.#scope.limits;
    if (this.#bytes + bytes > emittedBytes) {
      const message = `a turn emits ${emittedBytes} bytes of extension events at most`;
      this.#scope.fail({ code: 'emitted_bytes_limit', message });
      return refused('emitted_bytes_limit', message);
    }
    this.#bytes += bytes;
    return null;
  }
}
