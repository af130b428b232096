/**
 * The loop `chat`: the model is called, the tools that it asks for are called in parallel, and so on until it asks for
 * none. The transcript is saved with each of these steps, so that a turn that is cut short leaves what it had.
 *
 *   C1. Every request is one that a strict provider accepts: each tool call answered exactly once, in the order of the
 *       calls, right after the message that asked for it; no message of the assistant without text and without a call.
 *   C2. An answer that was cut off is the turn's result all the same, and its `finish_reason` says why it ends where it
 *       does.
 *   C3. A user's message is a message of its own, even after tool results: the journal then needs no second copy of either.
 *   C4. What is saved is committed with what comes after it: the next call, or the end of the turn. It is waited for there,
 *       and the turn goes on with what was saved.
 */
import { toolUsesOf, type Message } from '../../machines/messages.ts';
import type { AgentLoop, LoopHost, TurnInput, TurnResult } from './agent-loop.ts';
import { answeredTranscript } from './answered-transcript.ts';
import { resultsOfCalls } from './asked-calls.ts';
import { isCutOff, isEmpty, requestWith, resultWithoutAnswer } from './model-answer.ts';

export const chatLoop: AgentLoop = { name: 'chat', turn };

async function turn(input: TurnInput, host: LoopHost): Promise<TurnResult> {
  let transcript: readonly Message[] = [...(await answeredTranscript(input, host)), input.message];
  let saved = host.setTranscript(transcript);
  for (;;) {
    const [answer, asked] = await Promise.all([host.model(requestWith(transcript, input)), saved]);
    if (answer.outcome !== 'ended') return resultWithoutAnswer(answer);
    const result = { sequence: answer.sequence };
    if (isEmpty(answer.message)) return { kind: 'returned', result };
    transcript = [...asked, answer.message];
    saved = host.setTranscript(transcript);
    // An answer is in the journal already and only referred to: nothing keeps it out of the commit that closes the turn.
    if (toolUsesOf(answer.message).length === 0) return { kind: 'returned', result };
    const [content, answered] = await Promise.all([resultsOfCalls(answer, input, host), saved]);
    transcript = [...answered, { role: 'user', content }];
    saved = host.setTranscript(transcript);
    if (isCutOff(answer)) {
      await saved;
      return { kind: 'returned', result };
    }
  }
}
