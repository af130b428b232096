import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageKeys } from '../../../../machines/projections/message-keys.ts';
import type { SessionRecord } from '../../../../machines/records.ts';
import { throughJson } from '../../../support/session-story.ts';

const queued = (sequence: number, key: string | undefined): SessionRecord<'message_queued'> => ({
  sequence,
  recorded_at: sequence,
  type: 'message_queued',
  state: 'running.working',
  data: { input: 'x', mode: 'queue', ...(key === undefined ? {} : { key }) },
});

const anyKey = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'constructor', 'toString', '🦀'));

describe('the keys of messages', () => {
  it('L-046, L-052, L-053: name each the message that was sent with it, and no other text is a key, from any snapshot on', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyKey), anyKey, fc.nat(), (sent, other, choice) => {
        const keys = sent.reduce((known, key, index) => {
          known.apply(queued(index + 1, key));
          return index === choice % sent.length ? MessageKeys.from(throughJson(known.snapshot())) : known;
        }, new MessageKeys());

        expect(sent.map((key) => keys.find(key))).toEqual(sent.map((_key, index) => index + 1));
        if (!sent.includes(other)) expect(keys.find(other)).toBeNull();
      }),
    );
  });

  it('are none of a message that was sent without one', () => {
    const keys = new MessageKeys();
    keys.apply(queued(3, undefined));

    expect(keys.snapshot()).toEqual([]);
    expect(keys.find('undefined')).toBeNull();
  });
});
