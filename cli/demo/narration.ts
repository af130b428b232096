/** What the demonstration says: headings, one line an event, and a model's words as they come. */
import type { ShownEvent } from './demo-client.ts';

const LINE_CHARACTERS_MAX = 100;

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
const STYLE_CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

export class Narration {
  readonly #write: (text: string) => void;
  readonly #hasColors: boolean;
  /** Whether a model is being quoted, on a line that is not complete. */
  #isQuoting = false;

  constructor(output: { readonly write: (text: string) => void; readonly hasColors: boolean }) {
    this.#write = output.write;
    this.#hasColors = output.hasColors;
  }

  title(text: string): void {
    this.#line(this.#styled(text, 'bold'));
  }

  step(number: number, text: string): void {
    this.#line('');
    this.#line(`${this.#styled(`${number}.`, 'cyan')} ${this.#styled(text, 'bold')}`);
  }

  note(text: string): void {
    this.#line(`   ${this.#styled(text, 'dim')}`);
  }

  alarm(text: string): void {
    this.#line(`   ${this.#styled(text, 'red')}`);
  }

  success(text: string): void {
    this.#line(`   ${this.#styled(text, 'green')}`);
  }

  event(event: ShownEvent): void {
    const { text } = event.data;
    if (event.sequence === null) {
      if (typeof text === 'string') this.#quote(text);
      return;
    }
    const sequence = String(event.sequence).padStart(4);
    const detail = shortened(detailOf(event));
    this.#line(`${this.#styled(sequence, 'dim')}  ${this.#styled(event.type.padEnd(20), styleOf(event))} ${detail}`.trimEnd());
  }

  #quote(text: string): void {
    if (!this.#isQuoting) this.#write(`      ${this.#styled('(live)'.padEnd(20), 'dim')} `);
    this.#isQuoting = true;
    this.#write(text.replaceAll('\n', ' '));
  }

  #line(text: string): void {
    if (this.#isQuoting) this.#write('\n');
    this.#isQuoting = false;
    this.#write(`${text}\n`);
  }

  #styled(text: string, style: Style | null): string {
    return this.#hasColors && style !== null ? `\u001b[${STYLE_CODES[style]}m${text}\u001b[0m` : text;
  }
}

function styleOf({ type, data }: ShownEvent): Style | null {
  if (data['outcome'] === 'unknown') return 'yellow';
  if (type.endsWith('_failed')) return 'red';
  return type === 'turn_ended' ? 'green' : null;
}

/** What is worth showing of an event's data, in a few words. */
function detailOf({ type, data }: ShownEvent): string {
  switch (type) {
    case 'session_created':
      return `${shown(data['agentloop'])}, ${modelIn(data)}`;
    case 'message_queued':
      return JSON.stringify(data['input']);
    case 'tool_call_started':
      return `${shown(data['tool'])} ${shown(data['input_text'])}`;
    case 'tool_call_ended':
      return `${shown(data['outcome'])}: ${shown(data['output'])}`;
    case 'model_call_ended':
      return shown(data['finish_reason']);
    case 'model_call_failed':
      return `${shown(data['outcome'])}: ${shown(data['message'])}`;
    case 'activation_failed':
    case 'turn_failed':
      return `${shown(data['code'])}: ${shown(data['message'])}`;
    default:
      return '';
  }
}

function modelIn(data: Readonly<Record<string, unknown>>): string {
  const model = data['model'];
  if (typeof model !== 'object' || model === null || !('provider' in model) || !('name' in model)) return 'no model';
  return `${shown(model.provider)}/${shown(model.name)}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function shortened(text: string): string {
  const line = text.replaceAll('\n', ' ');
  return line.length <= LINE_CHARACTERS_MAX ? line : `${Array.from(line).slice(0, LINE_CHARACTERS_MAX - 1).join('')}…`;
}
