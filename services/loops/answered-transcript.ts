/** The transcript that a turn begins with: each tool call that it left unanswered has the outcome that the journal knows. */
import type { Message } from '../../machines/messages.ts';
import { closeOpenToolCalls, hasOpenToolCalls } from '../../machines/open-tool-calls.ts';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import type { Sequence } from '../../machines/records.ts';
import type { LoopHost, TurnInput } from './agent-loop.ts';

export async function answeredTranscript(input: TurnInput, host: LoopHost): Promise<readonly Message[]> {
  if (!hasOpenToolCalls(input.transcript)) return input.transcript;
  return closeOpenToolCalls(input.transcript, await eventsAfter(host, input.checkpoint_sequence));
}

async function eventsAfter(host: LoopHost, checkpoint: Sequence): Promise<readonly PublicEvent[]> {
  const events: PublicEvent[] = [];
  let after: Sequence | null = checkpoint;
  while (after !== null) {
    const page = await host.events(after);
    events.push(...page.events);
    after = page.next;
  }
  return events;
}
