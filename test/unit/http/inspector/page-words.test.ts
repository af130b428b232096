/** Addresses, times and failures as the page reads and says them. */
import { describe, expect, it } from 'vitest';
import type { JournalPage, ListedSession, SessionPage } from '../../../../http/inspector/data/wire.ts';
import { actionsIn } from '../../../../http/inspector/model/actions.ts';
import { failureOf, mayPass } from '../../../../http/inspector/model/failure.ts';
import { hashOf, parseRoute } from '../../../../http/inspector/model/route.ts';
import { hasIdParts, parseFilter } from '../../../../http/inspector/model/session-filter.ts';
import { ticksOf } from '../../../../http/inspector/model/time-scale.ts';
import { clockText, durationText } from '../../../../http/inspector/model/time-text.ts';
import type { JournalPageAnswer, SessionListAnswer } from '../../../../http/wire/answers.ts';
import { EXAMPLE_SESSION } from '../../../../http/wire/examples.ts';

describe('an address of the page', () => {
  it('leads to the list, to a session, and to a moment of it, and back', () => {
    for (const hash of ['#/', '#/sessions/abc', '#/sessions/abc/at/42', '#/sessions/a%2Fb']) expect(hashOf(parseRoute(hash))).toBe(hash);
    expect(parseRoute('#/sessions/abc/at/42')).toEqual({ kind: 'session', sessionId: 'abc', at: 42 });
  });

  it.each(['', '#', '#/sessions/', '#/sessions/abc/at/0', '#/sessions/abc/at/-1', '#/sessions/abc/at/x'])('%s leads to the list', (hash) => {
    expect(parseRoute(hash)).toEqual({ kind: 'sessions' });
  });

  it('may hold what is no encoding', () => {
    expect(parseRoute('#/sessions/%E0%A4%A')).toMatchObject({ sessionId: '%E0%A4%A' });
  });
});

describe('a filter of sessions', () => {
  it('is parts of ids and pairs of metadata', () => {
    const filter = parseFilter(' 01A2 team=red note=a=b team=blue ');
    expect(filter).toEqual({ idParts: ['01A2'], metadata: [['team', 'blue'], ['note', 'a=b']] });
    expect(hasIdParts('01a2ff', filter)).toBe(true);
    expect(hasIdParts('99a2ff', filter)).toBe(false);
  });
});

describe('a time', () => {
  it.each([
    [0, '0 ms'],
    [-5, '0 ms'],
    [999, '999 ms'],
    [2_450, '2.4 s'],
    [59_999, '59.9 s'],
    [200_000, '3 min 20 s'],
    [3_600_000, '1 h'],
    [90_000_000, '1 d 1 h'],
  ])('of %d ms is told as %s', (milliseconds, text) => {
    expect(durationText(milliseconds)).toBe(text);
  });

  it.each([1, 3, 40, 849, 90_000])('line of %d ms has marks that all say something else', (lengthMs) => {
    const marks = ticksOf({ start: 0, lengthMs }).map(({ milliseconds }) => durationText(milliseconds));
    expect(marks.length).toBeGreaterThan(1);
    expect(new Set(marks).size).toBe(marks.length);
  });

  it('of the day is told to the millisecond', () => {
    expect(clockText(1_767_268_800_042)).toBe('12:00:00.042');
  });
});

describe('a failure', () => {
  it('of a damaged journal names the file and the place in it', () => {
    const body = { error: { code: 'journal_corrupt', message: 'it does not read back', retryable: false, details: { file: 'sessions/a/1.log', offset: 17 } } };
    expect(failureOf(500, body)).toMatchObject({ kind: 'damaged', text: expect.stringContaining('sessions/a/1.log, at byte 17') });
  });

  it('tells a missing token from one that is not enough, and what may pass from what stays', () => {
    expect(failureOf(401, null).kind).toBe('token_missing');
    expect(failureOf(403, { error: { code: 'forbidden', message: 'too narrow' } }).text).toContain('too narrow');
    expect([401, 403, 404, 500, 502, 503].map((status) => mayPass(failureOf(status, null)))).toEqual([false, false, false, true, true, true]);
  });
});

describe('what may be asked of a session', () => {
  it('goes by its state', () => {
    expect(actionsIn('running.working')).toEqual({ mayInterrupt: true, mayResume: false, mayEnd: true, maySend: false });
    expect(actionsIn('failed')).toMatchObject({ mayResume: true, maySend: false });
    expect(actionsIn(null)).toEqual({ mayInterrupt: false, mayResume: false, mayEnd: false, maySend: false });
  });
});

describe('what the page reads', () => {
  it('is what the server answers', () => {
    // The types are the test: the page has its own, of what it reads.
    const session: ListedSession = EXAMPLE_SESSION;
    const sessions: SessionPage = { sessions: [], next_cursor: null } satisfies SessionListAnswer;
    const journal = (answer: JournalPageAnswer): JournalPage => answer;

    expect(session.session_id).toBe(EXAMPLE_SESSION.session_id);
    expect(sessions.next_cursor).toBeNull();
    expect(journal({ records: [], next_cursor: 4 }).next_cursor).toBe(4);
  });
});
