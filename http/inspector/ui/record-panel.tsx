/** The record that led to the moment, whole. */
import type { SessionRecord } from '../../../machines/records.ts';
import type { Paired } from '../model/durations.ts';
import { durationText } from '../model/time-text.ts';
import { JsonTree } from './json-tree.tsx';

interface RecordPanelProps {
  readonly sequence: number;
  readonly record: SessionRecord | null;
  readonly ends: Paired | null;
  readonly travel: (to: number) => void;
}

export function RecordPanel({ sequence, record, ends, travel }: RecordPanelProps) {
  return (
    <section className="panel panel-record" aria-label="Record">
      <div className="panel-head">
        <h2>
          Record {sequence} {record !== null && <code>{record.type}</code>}
        </h2>
        {ends !== null && ends.other !== null && (
          <button type="button" className="quiet" onClick={() => travel(ends.other ?? sequence)}>
            {ends.isStart ? 'ended by' : 'began with'} {ends.other}
            {ends.milliseconds === null ? '' : `, ${durationText(ends.milliseconds)}`}
          </button>
        )}
      </div>
      <div className="record-json" tabIndex={0} role="region" aria-label={`Contents of record ${sequence}`}>
        {record !== null && <JsonTree key={record.sequence} value={record} />}
      </div>
    </section>
  );
}
