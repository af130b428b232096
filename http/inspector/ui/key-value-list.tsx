import type { Changes } from '../model/changes.ts';
import type { Moment } from '../model/moment.ts';
import { JsonTree } from './json-tree.tsx';

interface KeyValueListProps {
  readonly keyValues: Moment['keyValues'];
  readonly changes: Changes;
}

export function KeyValueList({ keyValues, changes }: KeyValueListProps) {
  if (keyValues.length === 0 && changes.keysDeleted.length === 0) return <p className="empty">No key is set.</p>;
  return (
    <ul className="facts facts-values" data-facts="kv">
      {keyValues.map(([key, value]) => (
        <li key={key} data-changed={changes.keysSet.includes(key) ? 'new' : undefined}>
          <span className="json-key">{key}</span> <JsonTree value={value} depth={2} />
        </li>
      ))}
      {changes.keysDeleted.map((key) => (
        <li key={key} data-changed="gone">
          <span className="json-key">{key}</span> <span className="fact-text">deleted</span>
        </li>
      ))}
    </ul>
  );
}
