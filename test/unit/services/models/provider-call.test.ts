import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ModelOutcome } from '../../../../services/models/model-provider.ts';
import { PROTOCOLS } from '../../../support/provider-protocols.ts';
import { API_KEY, ProviderStage } from './provider-stage.ts';

describe.each(PROTOCOLS)('a call over $name', (protocol) => {
  let stage = new ProviderStage(protocol);
  afterEach(async () => {
    await stage.close();
    stage = new ProviderStage(protocol);
  });

  it.each([400, 401, 404, 429, 500, 503])('S-034: is one request and failed where the provider answers %i', async (status) => {
    const error = { type: 'error', error: { message: `no: ${API_KEY}\nand more`, type: 't' } };
    const { outcome, requests } = await stage.call({
      status,
      headers: { 'content-type': 'application/json', 'retry-after': '0', 'x-secret': 'header-text' },
      steps: [{ send: JSON.stringify(error) }],
    });

    expect(requests()).toBe(1);
    expect(outcome).toEqual({
      outcome: 'failed',
      code: `http_${status}`,
      message: `the model provider answered ${status}: no: [secret removed] and more`,
    });
  });

  it('tells nothing of an error body but a short message', async () => {
    const long = await stage.call({ status: 500, steps: [{ send: JSON.stringify({ type: 'error', error: { type: 't', message: '🦀'.repeat(10_000) } }) }] });
    const page = await stage.call({ status: 502, steps: [{ send: `<html>${'x'.repeat(5000)}</html>` }] });

    expect(failureOf(long.outcome).message.length).toBeLessThan(400);
    expect(failureOf(long.outcome).message.isWellFormed()).toBe(true);
    expect(failureOf(page.outcome)).toMatchObject({ code: 'http_502', message: 'the model provider answered 502: Scripted' });
  });

  it.each([301, 302, 303, 307, 308])('S-034: follows no redirect (%i)', async (status) => {
    const target = await stage.serve({ steps: [{ send: protocol.answer('x') }] });
    const { outcome, requests } = await stage.call({ status, headers: { location: `${target.url}/v1${protocol.path}` }, steps: [] });

    expect(outcome).toMatchObject({ outcome: 'unknown', code: 'redirect_refused' });
    expect(requests()).toBe(1);
    expect(target.requests).toEqual([]);
  });

  it.each([
    ['reset', null],
    ['lost', null],
    ['reset', 200],
    ['lost', 200],
  ] as const)('S-034: is one request where the connection is %s after a status of %s', async (end, status) => {
    const { outcome, requests } = await stage.call({ status, steps: [{ end }] });

    expect(outcome).toMatchObject({ outcome: 'unknown', code: 'connection_lost' });
    expect(requests()).toBe(1);
  });

  it('is failed where nobody listens, and where the name does not resolve', async () => {
    const gone = await stage.serve({ steps: [] });
    await gone.close();

    expect(await stage.ask(`${gone.url}/v1`)).toMatchObject({ outcome: 'failed', code: 'connection_refused' });
    expect(await stage.ask('http://no-such-host.invalid/v1')).toMatchObject({ outcome: 'failed', code: 'name_not_resolved' });
  });

  it('S-118: closes its connection and is cancelled as soon as it is told to, while it waits and while it streams', async () => {
    const never = new Promise(() => undefined);
    const waiting = await stage.serve({ steps: [{ hold: never }] });
    const streaming = await stage.serve({ steps: [{ send: protocol.beginning('one ') }, { hold: never }] });

    const first = new AbortController();
    const asked = stage.ask(`${waiting.url}/v1`, {}, { signal: first.signal });
    await until(() => waiting.requests.length === 1);
    first.abort();
    expect(await asked).toEqual({ outcome: 'cancelled', code: 'cancelled', message: 'the call was cancelled' });
    await waiting.requests[0]?.closed;

    const second = new AbortController();
    const answer = stage.ask(`${streaming.url}/v1`, {}, { signal: second.signal, onDelta: () => second.abort() });
    expect(await answer).toMatchObject({ outcome: 'cancelled' });
    await streaming.requests[0]?.closed;
  });

  it('goes to its address below that of the model, with the key and without one where there is none', async () => {
    const server = await stage.serve({ steps: [{ send: protocol.answer('x') }] });
    const { header, withKey } = protocol.authorization;

    await stage.ask(`${server.url}/v1`);
    await stage.ask(`${server.url}/v1`, {}, { apiKey: undefined });

    expect(server.requests.map(({ path: at }) => at)).toEqual([`/v1${protocol.path}`, `/v1${protocol.path}`]);
    expect(server.requests.map(({ headers }) => headers[header])).toEqual([withKey(API_KEY), undefined]);
  });

  it('takes no key from the environment', async () => {
    const server = await stage.serve({ steps: [{ send: protocol.answer('x') }] });
    vi.stubEnv('ANTHROPIC_API_KEY', 'sk-of-the-environment');
    vi.stubEnv('OPENAI_API_KEY', 'sk-of-the-environment');

    await stage.ask(`${server.url}/v1`, {}, { apiKey: undefined });
    vi.unstubAllEnvs();

    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain('sk-');
  });

  it('is failed where the provider says in the stream that it failed, first or later, and does not wait for more', async () => {
    const never = new Promise(() => undefined);
    for (const before of ['', protocol.beginning('one ')]) {
      const { outcome, requests } = await stage.call({ steps: [{ send: before + protocol.failure(`busy ${API_KEY}`) }, { hold: never }] });

      expect(outcome).toEqual({ outcome: 'failed', code: 'provider_error', message: 'the model provider failed: busy [secret removed]' });
      expect(requests()).toBe(1);
    }
  });

  it.each(['{"choices":[', '5', '"x"', 'null', '{"type":"message_start"}{'])(
    'is unknown, and not failed, where the stream has a piece that is no event: %s',
    async (piece) => {
      for (const before of ['', protocol.beginning('one ')]) {
        const { outcome } = await stage.call({ steps: [{ send: `${before}data: ${piece}\n\n` }, { send: protocol.answer('x') }] });

        expect(outcome).toMatchObject({ outcome: 'unknown', code: 'malformed_stream' });
      }
    },
  );

  it('sends nothing where it was cancelled before', async () => {
    const server = await stage.serve({ steps: [] });

    expect(await stage.ask(`${server.url}/v1`, {}, { signal: AbortSignal.abort() })).toMatchObject({ outcome: 'cancelled' });
    expect(server.requests).toEqual([]);
  });
});

function failureOf(outcome: ModelOutcome) {
  if (outcome.outcome === 'ended') throw new Error('an answer');
  return outcome;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
