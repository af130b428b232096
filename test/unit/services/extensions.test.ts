/** The budget of a turn's extension events. */
import { describe, expect, it } from 'vitest';
import { ScriptedTools } from '../../support/scripted-tools.ts';
import { call, RETURNED, TurnStage } from '../../support/turn-stage.ts';

const NAME = 'acme.note';

/** The data whose event takes so many bytes in all, with its name and as JSON. */
const filling = (bytes: number): string => 'x'.repeat(bytes - NAME.length - 2);

describe('the extension events of a turn', () => {
  it('S-041, S-042: may take what the limit says, names and payloads, to the byte', async () => {
    const stage = await TurnStage.set(
      async (_input, host) => {
        await host.emit(NAME, filling(60));
        await host.emit(NAME, filling(40));
        return RETURNED;
      },
      { limits: { emittedBytes: 100 } },
    );

    expect(await stage.send()).toMatchObject({ outcome: 'ended' });
    expect(await stage.records('extension_emitted')).toHaveLength(2);
  });

  it('S-041: fail their turn with the first byte over it, which is not recorded, and the next turn has its own', async () => {
    const answers: unknown[] = [];
    const stage = await TurnStage.set(
      async (_input, host) => {
        answers.push(await host.emit(NAME, filling(60)), await host.emit(NAME, filling(41)));
        return RETURNED;
      },
      { limits: { emittedBytes: 100 } },
    );

    expect(await stage.send()).toMatchObject({ outcome: 'failed', error: { code: 'emitted_bytes_limit' } });
    expect(await stage.send()).toMatchObject({ outcome: 'failed', error: { code: 'emitted_bytes_limit' } });

    expect(answers[1]).toMatchObject({ outcome: 'refused', code: 'emitted_bytes_limit' });
    expect(await stage.records('extension_emitted')).toHaveLength(2);
  });

  it('S-042: share one budget between the loop and its tools', async () => {
    const stage = await TurnStage.set(
      async (_input, host) => {
        await host.emit(NAME, filling(60));
        await host.dispatch([call('act')]);
        return RETURNED;
      },
      {
        limits: { emittedBytes: 100 },
        tools: new ScriptedTools(['look', 'act'], async ({ context }) => {
          await context.emit(NAME, filling(41));
          return 'done';
        }),
      },
    );

    expect(await stage.send()).toMatchObject({ outcome: 'failed', error: { code: 'emitted_bytes_limit' } });
    expect(await stage.records('extension_emitted')).toHaveLength(1);
  });

  it('are refused where they are no plain data or a reserved type, at no cost to the turn', async () => {
    const answers: unknown[] = [];
    const stage = await TurnStage.set(async (_input, host) => {
      answers.push(await host.emit('turn_ended', 1), await host.emit(NAME, (() => 1) as never));
      return RETURNED;
    });

    expect(await stage.send()).toMatchObject({ outcome: 'ended' });
    expect(answers).toMatchObject([{ code: 'reserved_type' }, { code: 'invalid_request' }]);
  });
});
