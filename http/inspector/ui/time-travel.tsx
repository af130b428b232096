/** The slider over the journal: the session as it was after any of its records, or as it is. */
import type { RecordRow } from '../model/record-row.ts';
import { timeText } from '../model/time-text.ts';

interface TimeTravelProps {
  readonly length: number;
  readonly sequence: number;
  readonly isFollowing: boolean;
  readonly foldedThrough: number;
  readonly row: RecordRow | undefined;
  /** Null follows the last record. */
  readonly travel: (to: number | null) => void;
}

export function TimeTravel({ length, sequence, isFollowing, foldedThrough, row, travel }: TimeTravelProps) {
  const isEmpty = length === 0;
  return (
    <section className="travel" aria-label="Time travel">
      <div className="travel-buttons">
        <button type="button" aria-label="First record" disabled={isEmpty || sequence === 1} onClick={() => travel(1)}>
          «
        </button>
        <button type="button" aria-label="Record before" disabled={isEmpty || sequence === 1} onClick={() => travel(sequence - 1)}>
          ‹
        </button>
        <button type="button" aria-label="Next record" disabled={isEmpty || sequence >= length} onClick={() => travel(sequence + 1)}>
          ›
        </button>
        <button type="button" className="travel-live" aria-pressed={isFollowing} disabled={isEmpty} onClick={() => travel(isFollowing ? sequence : null)}>
          Live
        </button>
      </div>
      <input
        type="range"
        aria-label="Record"
        aria-valuetext={row === undefined ? `record ${sequence}` : `record ${sequence} of ${length}, ${row.type}`}
        min={1}
        max={Math.max(1, length)}
        value={Math.max(1, sequence)}
        disabled={isEmpty}
        onChange={(event) => travel(Number(event.target.value))}
      />
      <output className="travel-place">
        <b>{sequence.toLocaleString('en')}</b> of {length.toLocaleString('en')}
        <span>{row === undefined ? '' : timeText(row.recorded_at)}</span>
        {foldedThrough < length && <span className="travel-folding">folded to {foldedThrough.toLocaleString('en')}</span>}
      </output>
    </section>
  );
}
