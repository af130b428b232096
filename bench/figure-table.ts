/** Every figure that the benchmark tells, and what is asked of it. */

export interface Target {
  /** Whether little or much of it is good. */
  readonly wants: 'little' | 'much';
  readonly must: number;
  readonly aim: number;
}

export interface FigureOf {
  readonly title: string;
  /** `F`, `E64`: how many of that yardstick; `×`: a ratio of two figures. */
  readonly unit: string;
  readonly target?: Target;
}

const little = (must: number, aim: number): Target => ({ wants: 'little', must, aim });
const much = (must: number, aim: number): Target => ({ wants: 'much', must, aim });

export const FIGURES = {
  turn: { title: 'synchronous turn, p50', unit: 'F', target: little(9, 6) },
  turn_resident: { title: 'the same, of a session kept in memory', unit: 'F' },
  turn_echo: { title: 'synchronous turn, p50', unit: 'E1' },
  turn_growth: { title: 'synchronous turn, behind 400 others over behind none', unit: '×' },
  turns_1: { title: 'turns a second, 1 session', unit: '/s' },
  turns_64: { title: 'turns a second, 64 sessions', unit: '/s' },
  turns_64_echo: { title: 'turns a second, 64 sessions', unit: 'E64', target: much(0.12, 0.25) },
  turns_256: { title: 'turns a second, 256 sessions', unit: '/s' },
  turns_256_over_64: { title: 'turns a second, 256 sessions over 64', unit: '×', target: much(0.95, 1.1) },
  tool_loop: { title: 'turn of 2 rounds with 4 tool calls each, p50', unit: 'F' },
  create: { title: 'create, p50', unit: 'F', target: little(4, 2.5) },
  submit: { title: 'asynchronous message until 202, p50', unit: 'F' },
  queue: { title: 'message on /sessions until 202, p50', unit: 'F' },
  queue_drained: { title: 'turns a second, out of one full queue', unit: '/s' },
  first_event: { title: 'message until first durable event over SSE, p50', unit: 'F', target: little(6, 4) },
  first_delta: { title: 'message until first delta over SSE, p50', unit: 'F' },
  fan_out_1: { title: 'message until its event is with 1 follower', unit: 'ms' },
  fan_out_100: { title: 'message until its event is with 100 followers', unit: 'ms' },
  fan_out_5000: { title: 'message until its event is with 5,000 followers', unit: 'ms' },
  follower_memory: { title: 'memory of one idle follower', unit: 'KiB', target: little(32, 16) },
  append_50: { title: 'append at 50 records, p50', unit: 'F' },
  append_5000: { title: 'append at 5,000 records, p50', unit: 'F' },
  append_50000: { title: 'append at 50,000 records, p50', unit: 'F' },
  append_growth: { title: 'append at 50,000 records over at 50', unit: '×', target: little(1.2, 1.05) },
  open_50: { title: 'first access after a start, 50 records', unit: 'ms' },
  open_5000: { title: 'first access after a start, 5,000 records', unit: 'ms' },
  open_50000: { title: 'first access after a start, 50,000 records', unit: 'ms' },
  reopen_50: { title: 'access to a released session, 50 records', unit: 'ms' },
  reopen_5000: { title: 'access to a released session, 5,000 records', unit: 'ms' },
  reopen_50000: { title: 'access to a released session, 50,000 records', unit: 'ms' },
  session_memory: { title: 'private memory of one session at rest', unit: 'KiB', target: little(4, 1.5) },
  memory_returned: { title: 'memory after every session was opened, over before', unit: '×' },
  cold_start: { title: 'cold start over node -e 0', unit: '×', target: little(6, 3.5) },
  start_10000: { title: '10,000 sessions, start to ready', unit: 's', target: little(0.5, 0.15) },
  access_10000: { title: '10,000 sessions, first access to one', unit: 'ms' },
  rebuild_million: { title: 'a million records rebuilt from journals', unit: 's', target: little(15, 5) },
  inspector_first_view: { title: 'inspector’s first view of 50,000 records', unit: 'ms' },
  inspector_step: { title: 'inspector’s step among 50,000 records, p50', unit: 'ms' },
  journal_bytes: { title: 'journal bytes over conversation bytes', unit: '×', target: little(3, 2.5) },
} as const satisfies Readonly<Record<string, FigureOf>>;

export type FigureName = keyof typeof FIGURES;
