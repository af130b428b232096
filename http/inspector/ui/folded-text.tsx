/** A text of which the first part is shown until somebody asks for the rest. */
import { useState } from 'react';

const LENGTH_MAX = 600;

export function FoldedText({ text, className }: { readonly text: string; readonly className: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const isLong = text.length > LENGTH_MAX;
  return (
    <p className={className}>
      {isLong && !isOpen ? text.slice(0, LENGTH_MAX) : text}
      {isLong && (
        <button type="button" className="json-fold" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? 'fold' : `${(text.length - LENGTH_MAX).toLocaleString('en')} more characters`}
        </button>
      )}
    </p>
  );
}
