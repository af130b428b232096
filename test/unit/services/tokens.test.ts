import { beforeEach, describe, expect, it } from 'vitest';
import { Tokens } from '../../../services/tokens.ts';
import { MemoryTokensFile } from '../../support/memory-tokens-file.ts';
import { quiescence, SimulatedClock } from '../../support/simulated-clock.ts';

let file: MemoryTokensFile;
let clock: SimulatedClock;
let logged: string[];

beforeEach(() => {
  file = new MemoryTokensFile();
  clock = new SimulatedClock();
  logged = [];
});

async function open(): Promise<Tokens> {
  const line = (level: string) => (event: string) => void logged.push(`${level} ${event}`);
  return Tokens.open({ file, clock, log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') } });
}

describe('a token', () => {
  it('stands for its tenant, its scope and its session', async () => {
    const session = 'ab'.repeat(16);
    const plain = file.add();
    const limited = file.add({ tenant: 'beta', scope: 'read', session_id: session });
    const tokens = await open();

    expect(await tokens.holderOf(plain.text)).toMatchObject({ tenant: 'acme', scope: 'send', sessionId: null });
    expect(await tokens.holderOf(limited.text)).toMatchObject({ tenant: 'beta', scope: 'read', sessionId: session });
  });

  it('is found by its name as long as it counts, and tells by that when it became another', async () => {
    const { id, text } = file.add();
    const tokens = await open();
    const named = await tokens.holderWithId(id);
    expect(named).toMatchObject({ tokenId: id, tenant: 'acme', scope: 'send', sessionId: null });
    file.put((file.text ?? '').replace(named?.fingerprint ?? '', '0'.repeat(64)));
    expect([(await tokens.holderWithId(id))?.fingerprint, await tokens.holderOf(text), named?.ended.aborted]).toEqual(['0'.repeat(64), null, true]);
    file.revoke(id);
    expect([await tokens.holderWithId(id), await tokens.holderWithId('nobody')]).toEqual([null, null]);
  });

  it('is refused where any character of it differs, though its id is known', async () => {
    const { text } = file.add();
    const tokens = await open();
    for (let at = 0; at < text.length; at += 1) {
      const other = `${text.slice(0, at)}${text[at] === '0' ? '1' : '0'}${text.slice(at + 1)}`;
      expect(await tokens.holderOf(other)).toBeNull();
    }
    expect(await tokens.holderOf(text)).not.toBeNull();
  });

  it('counts from the moment that it is in the file until the moment that it is not', async () => {
    const tokens = await open();
    for (let round = 0; round < 20; round += 1) {
      const { id, text } = file.add();
      expect(await tokens.holderOf(text)).not.toBeNull();
      file.revoke(id);
      expect(await tokens.holderOf(text)).toBeNull();
    }
  });

  it('is told from the file as it is by then, not as a look that is under way has seen it', async () => {
    const kept = file.add();
    const tokens = await open();
    let release: () => void = () => undefined;
    file.add();
    file.answer = new Promise<void>((resolve) => (release = resolve));
    const before = tokens.holderOf(kept.text);
    await quiescence();

    file.revoke(kept.id);
    file.answer = Promise.resolve();
    const after = tokens.holderOf(kept.text);
    release();

    expect(await before).not.toBeNull();
    expect(await after).toBeNull();
    expect(await tokens.holderOf(kept.text)).toBeNull();
  });

  it('is asked about without reading the file again, while that does not change', async () => {
    const { text } = file.add();
    const tokens = await open();
    await Promise.all(Array.from({ length: 50 }, () => tokens.holderOf(text)));
    await clock.advance(60_000);

    expect(file.reads).toBe(1);
  });

  it('counts no more from the moment at which it expires', async () => {
    const { text } = file.add({ expires_at: clock.now() + 10_000 });
    const tokens = await open();
    await clock.advance(9_999);
    expect(await tokens.holderOf(text)).not.toBeNull();
    await clock.advance(1);
    expect(await tokens.holderOf(text)).toBeNull();
  });

  it('that has ended does not come back when the wall clock is set back', async () => {
    const { text } = file.add({ expires_at: clock.now() + 10_000 });
    const tokens = await open();
    await clock.advance(12_000);
    clock.setWall(clock.now() - 60_000);
    expect(await tokens.holderOf(text)).toBeNull();
  });
});

describe('what a token was given', () => {
  it.each([
    ['is revoked', (id: string) => file.revoke(id)],
    ['is changed', () => file.put((file.text ?? '').replace('"send"', '"read"'))],
    ['loses its file', () => file.put(null)],
  ])('ends within two seconds when it %s, though nobody asks', async (_what, end) => {
    const { id, text } = file.add();
    const other = withOther();
    const tokens = await open();
    const ended = (await tokens.holderOf(text))?.ended;
    const goesOn = (await tokens.holderOf(other))?.ended;
    await clock.advance(60_000);
    expect(ended?.aborted).toBe(false);

    end(id);
    await clock.advance(2_000);

    expect(ended?.aborted).toBe(true);
    expect(goesOn?.aborted).toBe(file.text === null);
  });

  it('ends within two seconds of its expiry', async () => {
    const { text } = file.add({ expires_at: clock.now() + 10_500 });
    const tokens = await open();
    const ended = (await tokens.holderOf(text))?.ended;
    await clock.advance(10_499);
    expect(ended?.aborted).toBe(false);
    await clock.advance(2_001);
    expect(ended?.aborted).toBe(true);
  });

  it('goes on while other tokens come and go', async () => {
    const { text } = file.add();
    const tokens = await open();
    const ended = (await tokens.holderOf(text))?.ended;
    const { id } = file.add();
    await clock.advance(2_000);
    file.revoke(id);
    await clock.advance(2_000);
    expect(ended?.aborted).toBe(false);
    expect((await tokens.holderOf(text))?.ended).toBe(ended);
  });

  it('may be any number of things', async () => {
    const { text } = file.add();
    const ended = (await (await open()).holderOf(text))?.ended;
    const warnings: string[] = [];
    const warn = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', warn);
    for (let count = 0; count < 100; count += 1) ended?.addEventListener('abort', () => undefined);
    await new Promise((resolve) => process.nextTick(resolve));
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('is watched by one timer, and by none after the close', async () => {
    const texts = Array.from({ length: 20 }, () => file.add().text);
    const tokens = await open();
    for (const text of texts) await tokens.holderOf(text);
    await clock.advance(5_500);
    expect(clock.timerCount).toBe(1);

    tokens.close();
    await clock.advance(5_000);
    expect(clock.timerCount).toBe(0);
  });

  function withOther(): string {
    return file.add({ tenant: 'beta', scope: 'manage' }).text;
  }
});

describe('a file that is broken', () => {
  it('keeps a server from starting', async () => {
    file.put('{');
    await expect(open()).rejects.toMatchObject({ name: 'TokensFileError', message: 'the tokens file is no JSON' });
    file.failsWith = new Error('EACCES: no');
    await expect(open()).rejects.toMatchObject({ name: 'TokensFileError', message: 'the tokens file cannot be read: EACCES: no' });
    expect(clock.timerCount).toBe(0);
  });

  it('changes nothing but the log of a server that runs, once, until it is whole again', async () => {
    const { text } = file.add();
    const tokens = await open();
    const holder = await tokens.holderOf(text);
    const whole = file.text;

    file.put('{ "version": 1');
    for (let round = 0; round < 5; round += 1) expect(await tokens.holderOf(text)).toBe(holder);
    await clock.advance(10_000);
    file.failsWith = new Error('EIO: no');
    await clock.advance(10_000);
    expect(await tokens.holderOf(text)).toBe(holder);
    expect(holder?.ended.aborted).toBe(false);
    expect(logged).toEqual(['info tokens_read', 'error tokens_file_refused', 'error tokens_file_refused']);

    file.failsWith = null;
    file.put(whole);
    const { text: next } = file.add();
    expect(await tokens.holderOf(next)).not.toBeNull();
    expect(logged.at(-1)).toBe('info tokens_read');
  });
});
