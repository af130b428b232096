import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ahead } from '../../../machines/ahead.ts';
import type { Command } from '../../../machines/commands.ts';
import { decide, type Decision } from '../../../machines/decide.ts';
import type { Message } from '../../../machines/messages.ts';
import { throughJson, RULES, storyAtWork } from '../../support/session-story.ts';

const anyMessage = fc.constantFrom('hello', 'one', 'two').map((text): Message => ({ role: 'user', content: [{ type: 'text', text }] }));
const anyMessages = fc.array(anyMessage, { maxLength: 3 });
const anyKey = fc.constantFrom('a', 'b');

function anyCommand(message_sequence: number): fc.Arbitrary<Command> {
  const call = { kind: 'start_model_call', message_sequence, provider: 'demo', model: 'echo', difference: {} } as const;
  return fc.oneof(
    anyMessages.map((messages): Command => ({ kind: 'set_transcript', message_sequence, messages })),
    anyMessages.map((messages): Command => ({ ...call, messages })),
    fc.tuple(anyKey, fc.nat()).map(([key, value]): Command => ({ kind: 'put_kv', message_sequence, key, value })),
    anyKey.map((key): Command => ({ kind: 'delete_kv', message_sequence, key })),
    fc.tuple(anyKey, fc.option(fc.constantFrom('x', 'y'))).map(([key, value]): Command => ({ kind: 'change_metadata', changes: { [key]: value } })),
    fc.constant<Command>({ kind: 'send', input: 'next', mode: 'queue' }),
    fc.constant<Command>({ kind: 'close_turn', message_sequence, ending: { kind: 'returned' }, open: 'cancelled' }),
  );
}

/** What came of a command, without the snapshot that a decision carries on. */
function toldOf(decision: Decision): unknown {
  return decision.kind === 'records' ? throughJson(decision.records.map(({ sequence, type, data }) => ({ sequence, type, data }))) : decision;
}

describe('what is decided ahead of a session', () => {
  it('is what is decided when each command before it is committed, and leaves the session as it is', () => {
    fc.assert(
      fc.property(fc.array(anyCommand(storyAtWork().message), { minLength: 2, maxLength: 8 }), (commands) => {
        const { story } = storyAtWork();
        const session = storyAtWork().story.state;
        const before = throughJson(session.toSnapshot());
        const ahead = new Ahead(session, true);
        const decidedAhead = commands.map((command) => {
          const decision = decide(ahead, command, RULES);
          if (decision.kind === 'records') ahead.add(decision.records.map((record) => ({ ...record, recorded_at: 0 })), decision.snapshot);
          return toldOf(decision);
        });

        expect(decidedAhead).toEqual(commands.map((command) => toldOf(story.command(command))));
        expect(throughJson(session.toSnapshot())).toEqual(before);
      }),
      { numRuns: 500 },
    );
  });
});
