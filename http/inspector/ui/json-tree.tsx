/** JSON to read: long texts and large parts are folded until somebody opens them. All of it is shown as text. */
import { useState, type ReactNode } from 'react';
import { FoldedText } from './folded-text.tsx';

const TEXT_LENGTH_MAX = 240;
const ENTRIES_MAX = 40;
const OPEN_DEPTH = 6;
const OPEN_ENTRIES_MAX = 12;

interface JsonTreeProps {
  readonly value: unknown;
  readonly depth?: number;
}

export function JsonTree({ value, depth = 0 }: JsonTreeProps): ReactNode {
  if (typeof value === 'string') return <FoldedText as="span" className="json-text" text={value} lengthMax={TEXT_LENGTH_MAX} written={asText} />;
  if (typeof value !== 'object' || value === null) return <span className="json-literal">{String(value)}</span>;
  return <Entries value={value} depth={depth} />;
}

/** Lines and tabs stay; what would not be seen is written out. */
function asText(text: string): string {
  if (text === '') return '""';
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function Entries({ value, depth }: { readonly value: object; readonly depth: number }) {
  const entries = Object.entries(value) as readonly (readonly [string, unknown])[];
  const [isOpen, setIsOpen] = useState(depth === 0 || (depth < OPEN_DEPTH && entries.length <= OPEN_ENTRIES_MAX));
  const [most, setMost] = useState(ENTRIES_MAX);
  const isList = Array.isArray(value);
  if (entries.length === 0) return <span className="json-literal">{isList ? '[]' : '{}'}</span>;
  const summary = isList ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <>
      {depth > 0 && (
        <button type="button" className="json-fold" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? '▾' : '▸'} {summary}
        </button>
      )}
      {isOpen && (
        <ul className="json-entries">
          {entries.slice(0, most).map(([key, item]) => (
            <li key={key}>
              <span className="json-key">{key}</span> <JsonTree value={item} depth={depth + 1} />
            </li>
          ))}
          {entries.length > most && (
            <li>
              <button type="button" className="json-fold" onClick={() => setMost(most + ENTRIES_MAX)}>
                {(entries.length - most).toLocaleString('en')} more
              </button>
            </li>
          )}
        </ul>
      )}
    </>
  );
}
