/** Where times are on a line. */
export interface TimeScale {
  /** Epoch milliseconds. */
  readonly start: number;
  /** More than 0. */
  readonly lengthMs: number;
}

export interface Tick {
  /** From 0 to 1. */
  readonly place: number;
  /** Since the start. */
  readonly milliseconds: number;
}

const TICKS_MOST = 5;

export function scaleOf(spans: readonly { readonly start: number; readonly end: number | null }[], now: number): TimeScale {
  const start = spans.reduce((least, span) => Math.min(least, span.start), Number.POSITIVE_INFINITY);
  const end = spans.reduce((most, span) => Math.max(most, span.end ?? now), start);
  return Number.isFinite(start) ? { start, lengthMs: Math.max(1, end - start) } : { start: now, lengthMs: 1 };
}

/** From 0 at the start to 1 at the end. */
export function placeIn({ start, lengthMs }: TimeScale, time: number): number {
  return Math.min(1, Math.max(0, (time - start) / lengthMs));
}

/** Round distances, a handful of them; whole milliseconds, since no less is told. */
export function ticksOf({ lengthMs }: TimeScale): readonly Tick[] {
  const rough = Math.max(1, lengthMs / TICKS_MOST);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough;
  const count = Math.floor(lengthMs / step);
  return Array.from({ length: count + 1 }, (_, index) => ({ place: (index * step) / lengthMs, milliseconds: index * step }));
}
