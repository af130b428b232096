/** What is made for many, once. */
import { describe, expect, it } from 'vitest';
import { onceEach } from '../../../services/once-each.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { quiescence } from '../../support/simulated-clock.ts';

describe('an answer made once for each object', () => {
  it('is the same for everybody who asks, and another for an equal object', () => {
    const made: unknown[] = [];
    const of = onceEach((object: { readonly name: string }) => {
      made.push(object);
      return { name: object.name };
    });
    const one = { name: 'a' };
    const equal = { name: 'a' };

    expect(of(one)).toBe(of(one));
    expect(of(equal)).not.toBe(of(one));
    expect(made).toEqual([one, equal]);
  });

  it('is made once where it is undefined, too', () => {
    let count = 0;
    const of = onceEach((_: object): undefined => {
      count += 1;
    });
    const one = {};
    of(one);
    of(one);

    expect(count).toBe(1);
  });
});

describe('two who follow a session as it goes on', () => {
  it('are shown the very same events', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat();
    const readers = [await LiveReader.of(stage.sessions, session_id), await LiveReader.of(stage.sessions, session_id)] as const;
    await quiescence();
    await stage.sessions.send(TENANT, session_id, 'hello');
    await quiescence();

    const [one, other] = readers.map(({ recorded }) => recorded.at(-1));
    expect(one).toMatchObject({ type: 'turn_ended' });
    expect(one).toBe(other);
    await Promise.all(readers.map((reader) => reader.leave()));
  });
});
