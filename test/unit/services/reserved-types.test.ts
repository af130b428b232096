import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RECORD_VISIBILITY } from '../../../machines/records.ts';
import { refusalOfType } from '../../../services/reserved-types.ts';
import { RETURNED, TurnStage } from '../../support/turn-stage.ts';

describe('an extension event type', () => {
  it.each([...Object.keys(RECORD_VISIBILITY), 'transcript_replaced'])('S-044, S-045: is refused where it is %s', (type) => {
    expect(refusalOfType(type)).not.toBe(null);
  });

  it.each(['user.message', 'session.status', 'session.error', 'assistant.message', 'assistant.delta', 'tool.call', 'tool.result', 'tool.progress', 'model_delta', 'tool_progress', 'Session.anything', 'turn.of_tomorrow', 'telemetry'])(
    'S-044: is refused where it is %s, a name of either surface or of a later version',
    (type) => {
      expect(refusalOfType(type)).not.toBe(null);
    },
  );

  it.each(['', '.', 'acme', 'acme.', '.acme', 'acme..note', 'acme note.a', 'acme.nöte', `acme.${'x'.repeat(128)}`, 'acme.a\n'])(
    'is refused where it is %j, which is not words with dots between',
    (type) => {
      expect(refusalOfType(type)).not.toBe(null);
    },
  );

  it.each(['acme.note', 'a.b.c', 'xstate.stop', 'xstate.init', 'xstate.done', 'constructor.name', '__proto__.x'])('is taken where it is %s', (type) => {
    expect(refusalOfType(type)).toBe(null);
  });

  it('S-046, S-049, S-051: is told as it was given, with the origin that Brain assigns, even where it is one of XState’s own', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('xstate.stop', 'xstate.init', 'xstate.error.actor.0', 'acme.note'), fc.json(), async (type, json) => {
        const stage = await TurnStage.set(async (_input, host) => {
          await host.emit(type, { origin: { kind: 'tool', sequence: 1 }, json });
          return RETURNED;
        });

        expect(await stage.send()).toMatchObject({ outcome: 'ended' });

        const { items } = await stage.brain.sessions.events('local', stage.sessionId, { after: 0, limit: 100 });
        const activation = items.find((event) => event.type === 'activation_started')?.sequence;
        expect(items.find((event) => event.type === type)).toMatchObject({
          data: { origin: { kind: 'tool', sequence: 1 }, json },
          origin: { kind: 'agentloop', sequence: activation },
        });
        expect(await stage.send()).toMatchObject({ outcome: 'ended' });
      }),
      { numRuns: 20 },
    );
  });
});
