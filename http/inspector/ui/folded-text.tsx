/** A text of which the first part is shown until somebody asks for the rest. */
import { useState } from 'react';

const LENGTH_MAX = 600;

interface FoldedTextProps {
  readonly text: string;
  readonly className: string;
  /** Default: a paragraph. */
  readonly as?: 'p' | 'span';
  /** In UTF-16 code units. Default: 600. */
  readonly lengthMax?: number;
  /** How what is shown of it is written. Default: as it is. */
  readonly written?: (shown: string) => string;
}

export function FoldedText({ text, className, as: Element = 'p', lengthMax = LENGTH_MAX, written = (shown) => shown }: FoldedTextProps) {
  const [isOpen, setIsOpen] = useState(false);
  const isLong = text.length > lengthMax;
  return (
    <Element className={className}>
      {written(isLong && !isOpen ? text.slice(0, lengthMax) : text)}
      {isLong && (
        <button type="button" className="json-fold" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? 'fold' : `${(text.length - lengthMax).toLocaleString('en')} more characters`}
        </button>
      )}
    </Element>
  );
}
