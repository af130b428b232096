import { describe, expect, it } from 'vitest';
import type { LogFacts } from '../../../services/ports.ts';
import { secretFreeLog } from '../../../services/secret-free-log.ts';
import { Secrets } from '../../../services/secrets.ts';
import { systemRandom } from '../../../services/system.ts';
import { withNewToken } from '../../../services/token-list.ts';

const KEY = 'sk-canary-0123456789';

describe('the log', () => {
  it('has no secret in any line, of the server or of a tenant, in whatever shape it comes', () => {
    const lines: (readonly [event: string, facts: LogFacts | undefined])[] = [];
    const write = (event: string, facts?: LogFacts): void => void lines.push([event, facts]);
    const secrets = new Secrets([KEY]);
    secrets.hold('local', 'the-secret-of-the-tenant');
    const log = secretFreeLog({ debug: write, info: write, warn: write, error: write }, secrets);
    const error = Object.assign(new Error(`refused ${KEY}`, { cause: new Error('the-secret-of-the-tenant') }), { headers: { authorization: KEY } });

    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]('event', { error, text: `x${KEY}`, list: [KEY, 1], object: { deep: { key: KEY } }, count: 2, none: null });
    log.info('bare');

    expect(JSON.stringify(lines)).not.toMatch(/canary|the-secret/);
    const facts = {
      error: 'Error: refused [secret removed]; caused by Error: [secret removed]',
      text: 'x[secret removed]',
      list: ['[secret removed]', 1],
      object: "{ deep: { key: '[secret removed]' } }",
      count: 2,
      none: null,
    };
    expect(lines).toEqual([...Array.from({ length: 4 }, () => ['event', facts]), ['bare', {}]]);
  });

  it('has no token in any line, though nobody holds it', () => {
    const lines: unknown[] = [];
    const write = (_event: string, facts?: LogFacts): void => void lines.push(facts);
    const { text } = withNewToken([], { tenant: 'acme', scope: 'read', session_id: null, expires_at: null }, { random: systemRandom, now: 0 });
    const log = secretFreeLog({ debug: write, info: write, warn: write, error: write }, new Secrets([]));

    log.warn('event', { url: `/v1/sessions/x/events?access_token=${text}&after=1`, error: new Error(`no ${text}`), deep: { headers: [`Bearer ${text}`] } });

    expect(lines).toEqual([
      { url: '/v1/sessions/x/events?access_token=[secret removed]&after=1', error: 'Error: no [secret removed]', deep: "{ headers: [ 'Bearer [secret removed]' ] }" },
    ]);
  });
});
