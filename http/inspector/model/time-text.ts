/** Times and durations as people read them. Times are UTC, as everywhere in Brain. */
import { utcTime } from '../../../machines/utc-time.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `850 ms`, `2.4 s`, `3 min 20 s`, `5 h 2 min`, `4 d 3 h`. What is negative, by a clock that is set otherwise, is none. */
export function durationText(milliseconds: number): string {
  const ms = Math.max(0, Math.round(milliseconds));
  if (ms < SECOND_MS) return `${ms} ms`;
  if (ms < MINUTE_MS) return `${(Math.floor(ms / 100) / 10).toString()} s`;
  if (ms < HOUR_MS) return inTwo(ms, [MINUTE_MS, 'min'], [SECOND_MS, 's']);
  if (ms < DAY_MS) return inTwo(ms, [HOUR_MS, 'h'], [MINUTE_MS, 'min']);
  return inTwo(ms, [DAY_MS, 'd'], [HOUR_MS, 'h']);
}

/** `2026-01-01 12:00:00.250` for epoch milliseconds. */
export function timeText(epochMs: number): string {
  const fraction = String(Math.floor(epochMs) - Math.floor(epochMs / SECOND_MS) * SECOND_MS).padStart(3, '0');
  return `${utcTime(epochMs).replace('T', ' ').replace('Z', '')}.${fraction}`;
}

/** The time of day alone, for a column of them. */
export function clockText(epochMs: number): string {
  return timeText(epochMs).slice(11);
}

type Unit = readonly [ms: number, name: string];

function inTwo(ms: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((ms % large) / small);
  const whole = `${Math.floor(ms / large)} ${largeName}`;
  return rest === 0 ? whole : `${whole} ${rest} ${smallName}`;
}
