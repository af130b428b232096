import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../services/system.ts';
import { Vault, type VaultPlace } from '../../../services/vault.ts';
import type { VaultKeyFile } from '../../../storage/vault-key-file.ts';

const PLACE: VaultPlace = { kind: 'tenant', tenant: 'local', name: 'mine' };
const SECRET = 'sk-canary-0123456789';

/** A key file in memory. */
class KeyFile implements VaultKeyFile {
  key: Uint8Array | null = null;
  made = 0;
  failsWith: Error | null = null;

  async read(): Promise<Uint8Array | null> {
    return this.key;
  }

  async make(key: Uint8Array): Promise<void> {
    this.made += 1;
    this.key = key;
    if (this.failsWith !== null) throw this.failsWith;
  }
}

async function vaultOf(
  parts: { readonly key?: Uint8Array | null; readonly keyFile?: KeyFile; readonly hasSealed?: boolean } = {},
): Promise<Vault> {
  const { key = null, keyFile = new KeyFile(), hasSealed = false } = parts;
  return Vault.open({ key, keyFile, random: systemRandom, hasSealed: async () => hasSealed });
}

describe('a vault', () => {
  it('gives back any text that it sealed, and never seals one twice alike', async () => {
    const vault = await vaultOf({ key: new Uint8Array(32) });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
        const sealed = await vault.seal(PLACE, text);
        expect(vault.open(PLACE, sealed)).toBe(text);
        expect(await vault.seal(PLACE, text)).not.toEqual(sealed);
      }),
    );
  });

  it('vouches for a text in one purpose alone, with its own key alone, and the same after another start', async () => {
    const keyFile = new KeyFile();
    const vault = await vaultOf({ keyFile });
    const mac = Buffer.from(await vault.mac('host', 'text')).toString('hex');
    expect(Buffer.from(await (await vaultOf({ keyFile })).mac('host', 'text')).toString('hex')).toBe(mac);
    const others = [vault.mac('callback', 'text'), vault.mac('host', 'text2'), (await vaultOf()).mac('host', 'text')];
    for (const other of await Promise.all(others)) expect(Buffer.from(other).toString('hex')).not.toBe(mac);
  });

  it('shows nothing of what it sealed, but how long it is', async () => {
    const sealed = Buffer.from(await (await vaultOf()).seal(PLACE, SECRET));

    expect(sealed.includes('canary')).toBe(false);
    expect(sealed.length).toBe(1 + 12 + 16 + SECRET.length);
  });

  it('opens a value at its own place only', async () => {
    const vault = await vaultOf();
    const sealed = await vault.seal(PLACE, SECRET);

    const elsewhere: readonly VaultPlace[] = [
      { kind: 'tenant', tenant: 'local', name: 'mine2' },
      { kind: 'tenant', tenant: 'other', name: 'mine' },
      { kind: 'tenant', tenant: 'local","mine', name: '' },
      { kind: 'session', sessionId: 'local' },
    ];
    for (const place of elsewhere) expect(() => vault.open(place, sealed)).toThrow('does not open');
  });

  it('opens nothing in which a bit is another, and nothing under another key', async () => {
    const vault = await vaultOf({ key: new Uint8Array(32) });
    const sealed = await vault.seal(PLACE, SECRET);

    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Uint8Array.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => vault.open(PLACE, changed)).toThrow(/does not open|no sealed value/);
    }
    for (const length of [0, 1, 28, sealed.length - 1]) expect(() => vault.open(PLACE, sealed.subarray(0, length))).toThrow();
    const other = await vaultOf({ key: new Uint8Array(32).fill(1) });
    expect(() => other.open(PLACE, sealed)).toThrow('does not open');
  });

  it('tells nothing of the value or the key where it does not open', async () => {
    const vault = await vaultOf({ key: Buffer.from('k'.repeat(32)) });
    const sealed = await vault.seal(PLACE, SECRET);
    try {
      vault.open({ kind: 'session', sessionId: 'x' }, sealed);
      expect.unreachable();
    } catch (error) {
      expect(`${String(error)} ${JSON.stringify(error)}`).not.toMatch(/canary|kkk/);
      expect((error as Error).cause).toBeUndefined();
    }
  });
});

describe('the key of a vault', () => {
  it('is made when it is first needed, once, and then kept', async () => {
    const keyFile = new KeyFile();
    const vault = await vaultOf({ keyFile });
    expect(keyFile.made).toBe(0);

    const sealed = await Promise.all([1, 2, 3].map(() => vault.seal(PLACE, SECRET)));

    expect(keyFile.made).toBe(1);
    for (const one of sealed) expect((await vaultOf({ keyFile })).open(PLACE, one)).toBe(SECRET);
  });

  it('is the operator\'s where there is one, and the file is not looked at', async () => {
    const keyFile = new KeyFile();
    const vault = await vaultOf({ key: new Uint8Array(32).fill(3), keyFile });

    await vault.seal(PLACE, SECRET);

    expect(keyFile.made).toBe(0);
  });

  it('tells what it vouched for, in that purpose and of that text alone, from everything else', async () => {
    const keyFile = new KeyFile();
    const vault = await vaultOf({ keyFile });
    expect(vault.isMac('callback', 'a', new Uint8Array(32))).toBe(false);
    expect(keyFile.made).toBe(0);
    const mac = await vault.mac('callback', 'a');

    expect(vault.isMac('callback', 'a', mac)).toBe(true);
    expect((await vaultOf({ keyFile })).isMac('callback', 'a', mac)).toBe(true);

    expect(vault.isMac('callback', 'b', mac)).toBe(false);
    expect(vault.isMac('host', 'a', mac)).toBe(false);
    expect((await vaultOf({ key: new Uint8Array(32) })).isMac('callback', 'a', mac)).toBe(false);
    for (const part of [new Uint8Array(0), mac.subarray(1), Buffer.concat([mac, mac])]) expect(vault.isMac('callback', 'a', part)).toBe(false);
  });

  it('is not made anew beside what was sealed with one that is gone', async () => {
    const keyFile = new KeyFile();
    const vault = await vaultOf({ keyFile, hasSealed: true });

    await expect(vault.seal(PLACE, SECRET)).rejects.toThrow('restore vault.key');

    expect(keyFile.made).toBe(0);
    expect(() => vault.open(PLACE, new Uint8Array(40))).toThrow('restore vault.key');
  });

  it('is the one in the file where making it failed after it was there', async () => {
    const keyFile = new KeyFile();
    const vault = await vaultOf({ keyFile });
    keyFile.failsWith = new Error('the directory could not be flushed');
    await expect(vault.seal(PLACE, SECRET)).rejects.toThrow('could not be flushed');
    keyFile.failsWith = null;

    const sealed = await vault.seal(PLACE, SECRET);

    expect(keyFile.made).toBe(1);
    expect((await vaultOf({ keyFile })).open(PLACE, sealed)).toBe(SECRET);
  });
});
