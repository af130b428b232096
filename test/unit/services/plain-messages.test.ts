/** What a loop makes of a transcript, taken in at the cost of what is new in it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { userMessage, type Message } from '../../../machines/messages.ts';
import { deepFreeze } from '../../../machines/value-equality.ts';
import { Intake } from '../../../services/intake.ts';
import { plainChange, plainMessages } from '../../../services/plain-messages.ts';
import { Secrets } from '../../../services/secrets.ts';

const KEY = 'sk-canary-0123456789';
const nothing = new Intake(new Secrets([]).of('local'));

const anyText = fc.constantFrom('a', 'b', `a ${KEY}`, 'x\u0000', '\ud800');
const anyKept = fc.array(anyText, { maxLength: 5 }).map((texts): readonly Message[] => {
  const taken = plainMessages(texts.map(userMessage), nothing);
  return taken.ok ? deepFreeze(taken.messages) : expect.fail(taken.reason);
});

/** What may stand in a list in the place of a message. */
const anyOther = fc.oneof(
  anyText.map(userMessage),
  fc.constantFrom<unknown>(null, undefined, 'text', { role: 'user' }, { role: 'user', content: [], more: 1 }, { role: 'user', content: [1n] }, () => 1),
);

/** A transcript as kept, and a list made of it: each message as it is, elsewhere, left out, or another in its place. */
const anyChange = anyKept.chain((kept) =>
  fc.record({
    kept: fc.constant(kept),
    given: fc.array(kept.length === 0 ? anyOther : fc.oneof(anyOther, fc.nat(kept.length - 1).map((index): unknown => kept[index])), { maxLength: 4 }).chain((others) =>
      fc.nat(kept.length).map((end) => [...kept.slice(0, end), ...others]),
    ),
  }),
);

describe('a transcript that a loop hands back changed', () => {
  it.each([['without secrets in use', []], ['with one in use', [KEY]]])('is what it would be if all of it were new, %s', (_name, inUse) => {
    const intake = new Intake(new Secrets(inUse).of('local'));
    fc.assert(
      fc.property(anyChange, ({ kept, given }) => {
        expect(plainChange(given, kept, intake)).toEqual(plainMessages(given, intake));
      }),
    );
  });

  it('is no list where it is none', () => {
    for (const given of [null, 'text', { 0: userMessage('a'), length: 1 }, () => 1]) {
      expect(plainChange(given, [], nothing)).toEqual(plainMessages(given, nothing));
    }
  });

  it('keeps the very messages that are kept, in their places, and no other object of the loop', () => {
    const kept = deepFreeze([userMessage('a'), userMessage('b')]);
    const own = userMessage('c');

    const taken = plainChange([...kept, own], kept, nothing);

    const messages = taken.ok ? taken.messages : expect.fail(taken.reason);
    expect([messages[0] === kept[0], messages[1] === kept[1], messages[2] === own, messages[2]?.content === own.content]).toEqual([true, true, false, false]);
    expect(messages[2]).toEqual(own);
  });

  it('loses a secret that came into use after its message was kept, and again for the next one', () => {
    const secrets = new Secrets([]);
    const intake = new Intake(secrets.of('local'));
    const kept = deepFreeze([userMessage(`a ${KEY}`), userMessage('b the-next-secret-in-use')]);
    const texts = (): string => JSON.stringify(plainChange(kept, kept, intake));
    expect(texts()).toContain(KEY);

    secrets.hold('local', KEY);
    expect([texts().includes(KEY), texts().includes('the-next-secret-in-use')]).toEqual([false, true]);
    secrets.hold('local', 'the-next-secret-in-use');

    expect([texts().includes(KEY), texts().includes('the-next-secret-in-use')]).toEqual([false, false]);
  });
});
