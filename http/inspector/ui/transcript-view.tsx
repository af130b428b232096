/** The conversation as the agent loop keeps it. Whatever is in it is text here, markup included. */
import { useEffect, useRef } from 'react';
import type { Block, Message } from '../../../machines/messages.ts';
import type { FeedView } from '../data/session-feed.ts';
import type { Changes } from '../model/changes.ts';
import { SHOWN_MESSAGES, type ShownTranscript } from '../model/moment.ts';
import { FoldedText } from './folded-text.tsx';

interface TranscriptViewProps {
  readonly transcript: ShownTranscript;
  readonly changes: Changes;
  readonly writing: FeedView['writing'];
  readonly showMessages: (count: number) => void;
}

export function TranscriptView({ transcript, changes, writing, showMessages }: TranscriptViewProps) {
  const { from, messages, length } = transcript;
  const changedFrom = changes.transcriptFrom ?? Number.POSITIVE_INFINITY;
  const gone = changes.transcriptFrom === null ? 0 : Math.max(0, changes.transcriptLengthBefore - length);
  const scroller = useRef<HTMLDivElement>(null);
  // The end is what one looks at, and more of the beginning does not move it. What is not shown has no height, and scrolls
  // nowhere: it goes to the end when it comes in sight. Where the end was in sight it stays so when there is less room.
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const toEnd = (): void => element.scrollTo({ top: element.scrollHeight });
    toEnd();
    let height = element.clientHeight;
    const observer = new ResizeObserver(() => {
      const wasAtEnd = height === 0 || element.scrollTop + height >= element.scrollHeight - 1;
      height = element.clientHeight;
      if (wasAtEnd) toEnd();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [length, changes, writing]);
  return (
    <div className="transcript" ref={scroller} role="region" aria-label="Transcript" tabIndex={0}>
      {from > 0 && (
        <button type="button" className="quiet" onClick={() => showMessages(messages.length + SHOWN_MESSAGES)}>
          {from.toLocaleString('en')} messages before these
        </button>
      )}
      {length === 0 && writing === null && <p className="empty">Nothing is said yet.</p>}
      {messages.map((message, index) => (
        <MessageView key={from + index} message={message} isNew={from + index >= changedFrom} />
      ))}
      {gone > 0 && <p className="transcript-gone">{gone} messages were taken away.</p>}
      {writing !== null && (
        <article className="message" data-role="assistant" data-writing>
          <h3>being written</h3>
          <p className="block-text">{writing.text}</p>
        </article>
      )}
    </div>
  );
}

function MessageView({ message, isNew }: { readonly message: Message; readonly isNew: boolean }) {
  return (
    <article className="message" data-role={message.role} data-changed={isNew ? 'new' : undefined}>
      <h3>{message.role}</h3>
      {message.content.map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </article>
  );
}

function BlockView({ block }: { readonly block: Block }) {
  switch (block.type) {
    case 'text':
      return <FoldedText className="block-text" text={block.text} />;
    case 'reasoning':
      return <FoldedText className="block-reasoning" text={block.text} />;
    case 'tool_use':
      return (
        <div className="block-tool">
          <code>{block.name}</code> <FoldedText className="block-code" text={block.input_text} />
        </div>
      );
    case 'tool_result':
      return (
        <div className="block-tool" data-outcome={block.outcome}>
          <small>result{block.outcome === 'ok' ? '' : `: ${block.outcome}`}</small>
          {block.content.map((part, index) => (
            <BlockView key={index} block={part} />
          ))}
        </div>
      );
    case 'image':
    case 'file':
      return <FoldedText className="block-code" text={`${block.media_type} ${block.url}`} />;
  }
}
