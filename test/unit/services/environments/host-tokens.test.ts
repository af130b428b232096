import { beforeEach, describe, expect, it } from 'vitest';
import { isHostToken } from '../../../../services/environments/host-tokens.ts';
import { withoutTokens } from '../../../../services/token-list.ts';
import { HostStage } from '../../../support/host-stage.ts';

let stage: HostStage;

beforeEach(() => {
  stage = new HostStage({ apiKey: 'the key' });
});

async function tokenFor(tokenId: string, tenant = 'acme', name = 'mill'): Promise<string> {
  const registered = await stage.hosts.register({ tenant, tokenId }, { name, incarnation: 'first' });
  if (registered === null) throw new Error('the caller counts');
  return registered.token;
}

describe("a host's token", () => {
  it('says whose it is, also to another process of the server', async () => {
    stage.tokens.give('mine', { scope: 'send' });
    const token = await tokenFor('mine');
    stage.restart();
    expect(isHostToken(token)).toBe(true);
    expect(await stage.hosts.holderOf(token)).toMatchObject({ tenant: 'acme', host: 'mill', incarnation: 'first', issuedAt: stage.clock.now() });
  });

  it('is refused where any character of it differs, or something is added', async () => {
    const token = await tokenFor('key', 'local');
    // The last character of each part has bits that mean nothing; all before it count.
    for (let at = 0; at < token.length - 1; at += 1) {
      if (token[at + 1] === '.') continue;
      const other = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
      expect(await stage.hosts.holderOf(other), String(at)).toBeNull();
    }
    for (const other of ['', 'brain_host_', `${token}A`, `${token}.`, ` ${token}`, token.split('.')[0] ?? '']) {
      expect(await stage.hosts.holderOf(other)).toBeNull();
    }
    expect(await stage.hosts.holderOf(token)).not.toBeNull();
  });

  it('counts no longer than the token that it was made with', async () => {
    const text = stage.tokens.give('mine', { scope: 'send' });
    const token = await tokenFor('mine');
    const holder = await stage.hosts.holderOf(token);
    expect(holder?.ended?.aborted).toBe(false);
    stage.tokens.takeBack(text);
    expect([holder?.ended?.aborted, await stage.hosts.holderOf(token), await stage.hosts.register({ tenant: 'acme', tokenId: 'mine' }, { name: 'mill', incarnation: 'x' })]).toEqual([true, null, null]);
  });

  it.each([
    ['may only read by now', { scope: 'read' as const }],
    ['is of one session by now', { sessionId: 'ab'.repeat(16) }],
    ["is another tenant's by now", { tenant: 'other' }],
  ])('counts no more where that one %s', async (_what, holder) => {
    stage.tokens.give('mine', { scope: 'send' });
    const token = await tokenFor('mine');
    stage.tokens.give('mine', { scope: 'send', ...holder });
    expect(await stage.hosts.holderOf(token)).toBeNull();
  });

  it("of the operator's key ends with that key, and of a server without one when it has one", async () => {
    const ofTheKey = await tokenFor('key', 'local');
    stage.apiKey = 'another key';
    stage.restart();
    expect(await stage.hosts.holderOf(ofTheKey)).toBeNull();
    stage.apiKey = undefined;
    stage.restart();
    expect(await stage.hosts.holderOf(ofTheKey)).toBeNull();
    const ofNobody = await tokenFor('nobody', 'local');
    expect(await stage.hosts.holderOf(ofNobody)).not.toBeNull();
    stage.apiKey = 'the key';
    stage.restart();
    expect([await stage.hosts.holderOf(ofNobody), await stage.hosts.holderOf(ofTheKey)]).toEqual([null, expect.anything()]);
  });

  it('ends the stream that is open with it when it counts no more', async () => {
    const text = stage.tokens.give('mine', { scope: 'send' });
    const host = stage.client('first', { caller: { tenant: 'acme', tokenId: 'mine' } });
    await host.start();
    stage.tokens.takeBack(text);
    expect(await host.streamEnded).toBeNull();
    expect(await host.connect()).toBe('unauthorized');
  });

  it('tells nothing of the key that it was made with, and is in no log line', async () => {
    const token = await tokenFor('key', 'local');
    const payload = Buffer.from(token.split('.')[0]?.slice('brain_host_'.length) ?? '', 'base64url').toString();
    expect(JSON.parse(payload)).toEqual({ tenant: 'local', host: 'mill', incarnation: 'first', issued_at: stage.clock.now(), issuer: 'key' });
    expect(withoutTokens(`with ${token}, as it is`, '*')).toBe('with *, as it is');
  });
});
