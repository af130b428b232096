/**
 * The pieces of a streamed answer, as they may be shown before the answer is whole. A secret can stand in several pieces:
 * what may be the beginning of one is held back until the next piece says that it is not, so that what is shown, put
 * together, is what will be recorded. Where no secret is in use nothing is ever held.
 */
import type { ModelDelta } from './models/model-provider.ts';
import type { SecretSearch } from './secrets.ts';

type DeltaKind = 'text' | 'reasoning' | 'tool_input';

export class LiveDeltas {
  readonly #secrets: SecretSearch;
  readonly #show: (delta: ModelDelta) => void;
  readonly #held: Record<DeltaKind, string> = { text: '', reasoning: '', tool_input: '' };

  constructor(secrets: SecretSearch, show: (delta: ModelDelta) => void) {
    this.#secrets = secrets;
    this.#show = show;
  }

  take(delta: ModelDelta): void {
    if ('text' in delta) this.#push('text', delta.text);
    else if ('reasoning' in delta) this.#push('reasoning', delta.reasoning);
    else this.#push('tool_input', delta.tool_input);
  }

  /** The answer is whole: what is held was no secret. */
  end(): void {
    for (const kind of ['reasoning', 'text', 'tool_input'] as const) this.#showNow(kind, this.#held[kind]);
  }

  #push(kind: DeltaKind, piece: string): void {
    const text = this.#secrets.without(this.#held[kind] + piece);
    const end = text.length - this.#secrets.beginningAtEnd(text);
    this.#held[kind] = text.slice(end);
    this.#showNow(kind, text.slice(0, end));
  }

  #showNow(kind: DeltaKind, text: string): void {
    if (text === '') return;
    if (kind === 'text') this.#show({ text });
    else if (kind === 'reasoning') this.#show({ reasoning: text });
    else this.#show({ tool_input: text });
  }
}
