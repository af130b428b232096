/** What took time, as the bars of a trace: turns, and in them the loop's run, model calls, tool calls and environments. */
import type { Sequence } from '../../../machines/records.ts';
import type { Outcome, RecordRow } from './record-row.ts';

export type BarKind = 'turn' | 'activation' | 'model_call' | 'tool_call' | 'environment';

export interface Bar {
  readonly kind: BarKind;
  readonly name: string;
  /** The record that it begins with. */
  readonly sequence: Sequence;
  /** The record that it ended with; null while it goes on. */
  readonly endSequence: Sequence | null;
  /** Epoch milliseconds. */
  readonly start: number;
  /** Epoch milliseconds; null while it goes on. */
  readonly end: number | null;
  /** Null while it goes on. */
  readonly outcome: Outcome | null;
  /** How many other things it is inside of: 0 for a turn. */
  readonly depth: number;
  /** The `turn_started` that it belongs to; null outside of turns. */
  readonly turn: Sequence | null;
}

const DEPTHS: Readonly<Record<BarKind, number>> = { turn: 0, activation: 1, model_call: 2, tool_call: 2, environment: 0 };

const BEGINS: Readonly<Partial<Record<RecordRow['type'], BarKind>>> = {
  turn_started: 'turn',
  activation_started: 'activation',
  model_call_started: 'model_call',
  tool_call_started: 'tool_call',
  environment_setup_started: 'environment',
  environment_detach_started: 'environment',
  environment_teardown_started: 'environment',
};

/** In the order of their beginnings. Rows must ascend; what is not there yet is left out with what it began. */
export function barsOf(rows: readonly RecordRow[]): readonly Bar[] {
  const bars: Bar[] = [];
  const places = new Map<Sequence, number>();
  let turn: Sequence | null = null;
  for (const row of rows) {
    const kind = BEGINS[row.type];
    if (kind !== undefined) {
      if (kind === 'turn') turn = row.sequence;
      places.set(row.sequence, bars.length);
      bars.push({ kind, name: nameOf(row, kind), sequence: row.sequence, endSequence: null, start: row.recorded_at, end: null, outcome: null, depth: DEPTHS[kind], turn });
      continue;
    }
    const isTurnEnd: boolean = row.kind === 'turn' && row.outcome !== null;
    const began: Sequence | null = isTurnEnd ? turn : row.ends;
    const place = began === null ? undefined : places.get(began);
    const bar = place === undefined ? undefined : bars[place];
    if (place !== undefined && bar !== undefined) bars[place] = { ...bar, endSequence: row.sequence, end: row.recorded_at, outcome: row.outcome };
    if (isTurnEnd) turn = null;
  }
  return bars;
}

/** The turn that a moment is in, or the last one before it: its `turn_started`. */
export function turnAt(bars: readonly Bar[], sequence: Sequence): Sequence | null {
  return bars.findLast((bar) => bar.kind === 'turn' && bar.sequence <= sequence)?.sequence ?? null;
}

function nameOf(row: RecordRow, kind: BarKind): string {
  switch (kind) {
    case 'turn':
      return `turn ${row.sequence}`;
    case 'tool_call':
      return row.subject.split(' ')[0] ?? '';
    case 'environment':
      return `${row.type.split('_')[1] ?? ''} ${row.subject}`;
    case 'activation':
    case 'model_call':
      return row.subject;
  }
}
