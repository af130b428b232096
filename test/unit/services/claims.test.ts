import { beforeEach, describe, expect, it } from 'vitest';
import { Claims } from '../../../services/claims.ts';
import { KeyedCall } from '../../../services/keyed-call.ts';
import type { ClaimStore } from '../../../storage/claims.ts';
import { gate } from '../../support/gate.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const TENANT = 'local';

/** A store in memory that keeps the rules of its port: calls come one after the other, and a failed append wrote nothing. */
class ScriptedClaimStore implements ClaimStore {
  readonly entries: Uint8Array[] = [];
  /** What the next append waits for, and whether it fails then. */
  next: { readonly until: Promise<void>; readonly fails: boolean } | null = null;
  #last: Promise<unknown> = Promise.resolve();

  load(): Promise<readonly Uint8Array[]> {
    return this.#inTurn(() => Promise.resolve([...this.entries]));
  }

  append(_tenant: string, entry: Uint8Array): Promise<void> {
    const { next } = this;
    this.next = null;
    return this.#inTurn(async () => {
      await next?.until;
      if (next?.fails === true) throw new Error('the disk fails');
      this.entries.push(entry);
    });
  }

  replace(_tenant: string, entries: readonly Uint8Array[]): Promise<void> {
    return this.#inTurn(async () => void this.entries.splice(0, this.entries.length, ...entries));
  }

  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    const answer = this.#last.then(call);
    this.#last = answer.catch(() => undefined);
    return answer;
  }
}

function create(key: string): KeyedCall {
  return new KeyedCall('create', key, 'body');
}

let store: ScriptedClaimStore;
let claims: Claims;

beforeEach(() => {
  store = new ScriptedClaimStore();
  claims = new Claims(store, new SimulatedClock());
});

describe('a claim whose request is under way', () => {
  it('stays under way when the claim of another request cannot be written', async () => {
    await claims.take(TENANT, create('a'), null, 'session-a');
    store.next = { until: Promise.resolve(), fails: true };
    await expect(claims.take(TENANT, create('b'), null, 'session-b')).rejects.toThrow('the disk fails');

    expect(await claims.find(TENANT, create('a'), null)).toMatchObject({ isUnderWay: true });
    expect(await claims.find(TENANT, create('b'), null)).toBeNull();
  });

  it('is known, and answered for good, where another claim failed while it was being written', async () => {
    const disk = gate();
    store.next = { until: disk.opened, fails: true };
    const failing = claims.take(TENANT, create('a'), null, 'session-a');
    const taking = claims.take(TENANT, create('b'), null, 'session-b');
    disk.open();
    await expect(failing).rejects.toThrow();
    await taking;

    expect(await claims.find(TENANT, create('b'), null)).toMatchObject({ isUnderWay: true });
    await claims.answered(TENANT, create('b'), null);
    const restarted = new Claims(store, new SimulatedClock());
    expect((await restarted.find(TENANT, create('b'), null))?.claim.answered_at).not.toBeNull();
    expect(await restarted.find(TENANT, create('a'), null)).toBeNull();
  });

  it('stays under way until it is withdrawn for good, and then is free', async () => {
    await claims.take(TENANT, create('a'), null, 'session-a');
    const disk = gate();
    store.next = { until: disk.opened, fails: false };
    const withdrawn = claims.withdraw(TENANT, create('a'), null);

    expect(await claims.find(TENANT, create('a'), null)).toMatchObject({ isUnderWay: true });
    disk.open();
    await withdrawn;
    expect(await claims.find(TENANT, create('a'), null)).toBeNull();
  });

  it('is left, and nobody is at work on it, where its withdrawal cannot be written', async () => {
    await claims.take(TENANT, create('a'), null, 'session-a');
    store.next = { until: Promise.resolve(), fails: true };
    await expect(claims.withdraw(TENANT, create('a'), null)).rejects.toThrow();
    expect(await claims.find(TENANT, create('a'), null)).toMatchObject({ isUnderWay: false });
  });
});

describe('a claim that was answered a day ago', () => {
  it('is as it was where its key cannot be taken again', async () => {
    const clock = new SimulatedClock();
    claims = new Claims(store, clock);
    await claims.take(TENANT, create('a'), null, 'session-a');
    await claims.answered(TENANT, create('a'), null);
    await clock.advance(24 * 60 * 60 * 1000 + 1);
    store.next = { until: Promise.resolve(), fails: true };
    await expect(claims.take(TENANT, create('a'), null, 'session-b')).rejects.toThrow();

    expect(await claims.find(TENANT, create('a'), null)).toBeNull();
    expect(await claims.take(TENANT, create('a'), null, 'session-c')).toBeNull();
  });
});
