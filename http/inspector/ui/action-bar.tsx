/** What a person can do to the session: send a message, interrupt, resume, end. */
import { useState, type KeyboardEvent, type SubmitEvent } from 'react';
import { ServerFailure, type Server } from '../data/server.ts';
import { actionsIn } from '../model/actions.ts';

interface ActionBarProps {
  readonly sessionId: string;
  readonly server: Server;
  /** As it is now, whichever moment is looked at. */
  readonly state: string | null;
  /** Whether nothing can be changed where the session is. */
  readonly isReadOnly: boolean;
}

type Verb = 'cancel' | 'resume' | 'end';

export function ActionBar({ sessionId, server, state, isReadOnly }: ActionBarProps) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [isEndAsked, setIsEndAsked] = useState(false);
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}`;
  const { maySend, mayInterrupt, mayResume, mayEnd } = actionsIn(isReadOnly ? null : state);

  const attempt = async (asked: Promise<void>): Promise<boolean> => {
    setProblem(null);
    try {
      await asked;
      return true;
    } catch (error) {
      if (!(error instanceof ServerFailure)) throw error;
      setProblem(error.failure.text);
      return false;
    }
  };
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (text.trim() === '') return;
    if (await attempt(server.post(`${path}/messages`, { input: text }, { Prefer: 'respond-async' }))) setText('');
  };
  const act = (verb: Verb): void => {
    setIsEndAsked(false);
    void attempt(server.post(`${path}/${verb}`, {}));
  };

  return (
    <section className="panel panel-actions" aria-label="Do">
      <form className="send" onSubmit={(event) => void send(event)}>
        <textarea
          aria-label="Message"
          rows={2}
          value={text}
          disabled={isReadOnly}
          placeholder={isReadOnly ? 'Read-only: no server runs here' : maySend ? 'Send a message' : 'No message can be sent in this state'}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={sendOnEnter}
        />
        <button type="submit" disabled={!maySend || text.trim() === ''}>
          Send
        </button>
      </form>
      <div className="verbs">
        <button type="button" disabled={!mayInterrupt} onClick={() => act('cancel')}>
          Interrupt
        </button>
        <button type="button" disabled={!mayResume} onClick={() => act('resume')}>
          Resume
        </button>
        {isEndAsked ? (
          <>
            <button type="button" className="danger" onClick={() => act('end')}>
              End it for good
            </button>
            <button type="button" className="quiet" onClick={() => setIsEndAsked(false)}>
              Keep it
            </button>
          </>
        ) : (
          <button type="button" disabled={!mayEnd} onClick={() => setIsEndAsked(true)}>
            End…
          </button>
        )}
      </div>
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}

function sendOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
