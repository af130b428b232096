import { describe, expect, it } from 'vitest';
import { Callbacks } from '../../../../services/environments/callbacks.ts';
import type { EnvironmentPost, PostOutcome } from '../../../../services/environments/environment-transport.ts';
import { httpDriver } from '../../../../services/environments/http-driver.ts';
import { lostRecord, type EnvironmentDriver, type FinalReceipt, type OperationCall, type OperationListener, type OperationRequest, type Receipt } from '../../../../services/environments/operation.ts';
import { ServiceError } from '../../../../services/errors.ts';
import { Secrets } from '../../../../services/secrets.ts';
import { systemRandom } from '../../../../services/system.ts';
import { Vault } from '../../../../services/vault.ts';
import { Arrivals } from '../../../support/arrivals.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const SESSION = '019b7a5e6c00700080a1b2c3d4e5f607';
const CREDENTIAL = 'canary-credential-0123';
const NAME = { sessionId: SESSION, sequence: 7 };
const INVOKE: OperationRequest = { type: 'invoke', tool: 'book', input: { seat: 1 }, deadline_ms: 5 };
const RESULT: FinalReceipt = { type: 'result', output: 'booked' };
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

interface Posted extends EnvironmentPost {
  readonly body: string;
  readonly answer: (outcome: PostOutcome) => void;
}

function answered(receipt: unknown, sequence = 7, contract = 'environment/v1'): PostOutcome {
  return { kind: 'answered', status: 200, text: JSON.stringify({ contract, sequence, receipt }) };
}

async function vaultWith(key: Uint8Array | null, hasSealed = false): Promise<Vault> {
  return Vault.open({ key, keyFile: { read: async () => null, make: async () => undefined }, random: systemRandom, hasSealed: async () => hasSealed });
}

/** A driver over a network that a test scripts: every request waits for its answer, or for its signal. */
class Stage {
  readonly posts = new Arrivals<Posted>('requests');
  readonly secrets = new Secrets([]);
  readonly clock = new ManualClock();
  readonly callbacks: Callbacks;
  readonly driver: EnvironmentDriver;
  connects = true;
  /** Whether receipts are on record as soon as they are there. */
  records = true;

  constructor(vault: Vault) {
    this.callbacks = new Callbacks({ vault, secrets: this.secrets, publicUrl: () => 'https://brain.example.com/api' });
    const transport = {
      post: (request: EnvironmentPost): Promise<PostOutcome> =>
        new Promise((resolve) => {
          if (this.connects) request.onSent();
          request.signal.addEventListener('abort', () => resolve({ kind: this.connects ? 'lost' : 'not_sent', reason: 'it was given up' }));
          this.posts.add({ ...request, answer: resolve });
        }),
    };
    const driver = httpDriver({ transport, callbacks: this.callbacks, clock: this.clock, log: quiet });
    this.driver = {
      send: (call) => {
        const sent = driver.send(call);
        void sent.receipt.then(() => {
          if (this.records) sent.recorded();
        });
        return sent;
      },
    };
  }

  static async open(vault?: Vault): Promise<Stage> {
    return new Stage(vault ?? (await vaultWith(new Uint8Array(32))));
  }

  call(request: OperationRequest = INVOKE, changed: Partial<OperationCall> = {}): OperationCall {
    const listener: OperationListener = { emit: async () => undefined, progress: () => undefined };
    return {
      tenant: 'local',
      environment: { name: 'air', driver: 'http', url: 'https://air.example.com/x', configuration: {} },
      operation: { session_id: SESSION, environment: 'air', sequence: 7, request },
      credential: CREDENTIAL,
      listener,
      ...changed,
    };
  }

  /** What an operation comes to that is answered so. */
  async receiptOf(outcome: PostOutcome): Promise<Receipt> {
    const sent = this.driver.send(this.call({ type: 'detach' }));
    (await this.posts.at(this.posts.all.length - 1)).answer(outcome);
    return sent.receipt;
  }
}

describe('an operation over HTTP', () => {
  it('is one request that says all of it, under the name of its record', async () => {
    const stage = await Stage.open();
    const sent = stage.driver.send(stage.call());
    const { url, headers, body, answer } = await stage.posts.at(0);
    answer(answered(RESULT));
    expect(await sent.receipt).toEqual(RESULT);
    await sent.close(null);

    expect(url).toBe('https://air.example.com/x/v1/operations');
    expect(headers).toMatchObject({ Authorization: `Bearer ${CREDENTIAL}`, 'Idempotency-Key': `${SESSION}/7`, 'Content-Type': 'application/json' });
    const { contract, operation } = JSON.parse(body) as { readonly contract: string; readonly operation: { readonly callback: { readonly token: string } } };
    expect(contract).toBe('environment/v1');
    const callback = { url: `https://brain.example.com/api/v1/callbacks/${SESSION}/7`, token: operation.callback.token, methods: ['result', 'emit', 'progress'] };
    expect(operation).toEqual({ session_id: SESSION, environment: 'air', sequence: 7, request: INVOKE, callback });
    expect(stage.posts.all).toHaveLength(1);
  });

  it('has a callback where it is an invoke, and no Authorization without a credential', async () => {
    const stage = await Stage.open();
    for (const [index, request] of ([{ type: 'setup', configuration: {} }, { type: 'detach' }, { type: 'teardown' }] as const).entries()) {
      const sent = stage.driver.send(stage.call(request, { credential: null, listener: null }));
      const { body, headers, answer } = await stage.posts.at(index);
      expect(JSON.parse(body)).toEqual({ contract: 'environment/v1', operation: { session_id: SESSION, environment: 'air', sequence: 7, request } });
      expect(Object.keys(headers)).not.toContain('Authorization');
      answer(answered({ type: 'accepted' }));
      expect(await sent.receipt).toEqual({ type: 'accepted' });
    }
  });

  it('S-034: is a failure where it is known not to be done, unknown wherever it is not known, and is sent once in each case', async () => {
    const stage = await Stage.open();
    const status = (code: number): PostOutcome => ({ kind: 'answered', status: code, text: '' });
    const text = (body: string): PostOutcome => ({ kind: 'answered', status: 200, text: body });
    const deep = `{"contract":"environment/v1","sequence":7,"receipt":{"type":"result","output":${'['.repeat(500)}${']'.repeat(500)}}}`;
    const cases: readonly (readonly [PostOutcome, Receipt['type'], string?])[] = [
      [{ kind: 'not_sent', reason: 'the connection was refused' }, 'failure', 'not_reached'],
      [status(401), 'failure', 'unauthorized'],
      [status(403), 'failure', 'forbidden'],
      [status(404), 'failure', 'not_found'],
      ...[201, 202, 204, 301, 302, 307, 400, 408, 409, 425, 429, 500, 502, 503, 504].map((code) => [status(code), 'unknown'] as const),
      [{ kind: 'lost', reason: 'gone' }, 'unknown'],
      [text(''), 'unknown'],
      [text('{'), 'unknown'],
      [text('null'), 'unknown'],
      [text(deep), 'unknown'],
      [answered(RESULT, 8), 'unknown'],
      [answered(RESULT, 7, 'environment/v2'), 'unknown'],
      [answered({ type: 'done' }), 'unknown'],
      [answered({ type: 'result' }), 'unknown'],
      [answered({ type: 'failure', code: 'x', message: 'y'.repeat(70_000), retryable: false }), 'unknown'],
      [answered({ type: 'failure', code: 'full', message: 'no seat', retryable: true, details: { a: 1 } }), 'failure', 'full'],
      [answered({ type: 'unknown', message: 'hm' }), 'unknown'],
      [answered({ type: 'result', output: { a: [null] }, more: 1 }), 'result'],
    ];
    for (const [outcome, type, code] of cases) {
      const before = stage.posts.all.length;
      const receipt = await stage.receiptOf(outcome);
      expect([outcome, receipt.type, receipt.type === 'failure' ? receipt.code : undefined]).toEqual([outcome, type, code]);
      expect(JSON.stringify(receipt)).not.toContain(CREDENTIAL);
      expect(stage.posts.all.length).toBe(before + 1);
    }
  });

  it.each<[string, unknown, RegExp]>([
    ['no JSON', undefined, /it is no JSON/],
    ['no object', 7, /the answer .*expected object/],
    ['another contract', { contract: 'canary/v9', sequence: 7, receipt: RESULT }, /\/contract .*environment\/v1/],
    ['no sequence', { contract: 'environment/v1', receipt: RESULT }, /\/sequence .*expected/],
    ['another kind of receipt', { contract: 'environment/v1', sequence: 7, receipt: { type: 'canary' } }, /\/receipt\/type /],
    ['no output', { contract: 'environment/v1', sequence: 7, receipt: { type: 'result', canary: 1 } }, /\/receipt\/output is missing/],
    ['a code that is no text', { contract: 'environment/v1', sequence: 7, receipt: { type: 'failure', code: ['canary'], message: '', retryable: false } }, /\/receipt\/code .*expected string/],
  ])('says what is wrong with an answer of %s, without anything of it', async (_what, answer, reason) => {
    const stage = await Stage.open();
    const receipt = await stage.receiptOf({ kind: 'answered', status: 200, text: answer === undefined ? '{canary' : JSON.stringify(answer) });
    expect(receipt).toMatchObject({ type: 'unknown', message: expect.stringMatching(reason) as string });
    expect(JSON.stringify(receipt)).not.toContain('canary');
    expect(JSON.stringify(receipt).length).toBeLessThan(1_000);
  });

  it('has text that is well-formed, however it was answered', async () => {
    const stage = await Stage.open();
    const receipt = '{"type":"result","output":"a\\ud83e\\u0000b\ufffd"}';
    expect(await stage.receiptOf({ kind: 'answered', status: 200, text: `{"contract":"environment/v1","sequence":7,"receipt":${receipt}}` })).toEqual({ type: 'result', output: 'a\ufffdb\ufffd' });
  });

  it('tells whether it may have arrived, and of its deadline that it passed', async () => {
    const stage = await Stage.open();
    const sent = stage.driver.send(stage.call());
    expect([sent.mayHaveArrived(), sent.atDeadline()]).toEqual([false, 'timeout']);
    await stage.posts.at(0);
    expect(sent.mayHaveArrived()).toBe(true);
  });
});

describe('a callback of an invoke', () => {
  /** An operation that was sent, with the token of its callback. */
  async function invoked(stage: Stage): Promise<{ readonly sent: ReturnType<EnvironmentDriver['send']>; readonly posted: Posted; readonly token: string }> {
    const sent = stage.driver.send(stage.call());
    const posted = await stage.posts.at(stage.posts.all.length);
    const { operation } = JSON.parse(posted.body) as { readonly operation: { readonly callback: { readonly token: string } } };
    return { sent, posted, token: operation.callback.token };
  }

  it('brings the result of what was accepted', async () => {
    const stage = await Stage.open();
    const { sent, posted } = await invoked(stage);
    posted.answer(answered({ type: 'accepted' }));
    await stage.callbacks.result(NAME, RESULT);
    expect(await sent.receipt).toEqual(RESULT);
  });

  it('counts where it comes before the answer, which is then nothing any more, and the other way round', async () => {
    const stage = await Stage.open();
    const first = await invoked(stage);
    await stage.callbacks.result(NAME, RESULT);
    first.posted.answer(answered({ type: 'failure', code: 'x', message: '', retryable: false }));
    expect(await first.sent.receipt).toEqual(RESULT);
    await first.sent.close(null);

    const second = await invoked(stage);
    second.posted.answer(answered({ type: 'unknown', message: 'hm' }));
    expect(await second.sent.receipt).toEqual({ type: 'unknown', message: 'hm' });
    await expect(stage.callbacks.result(NAME, RESULT)).rejects.toMatchObject({ code: 'already_closed' });
    expect(await second.sent.receipt).toEqual({ type: 'unknown', message: 'hm' });
  });

  it('is answered when its result is on record, as late where another end stands, and as unknown where the record failed', async () => {
    const stage = await Stage.open();
    stage.records = false;
    for (const told of ['taken', 'already_closed', 'journal_unavailable']) {
      const { sent } = await invoked(stage);
      let heard = 'nothing yet';
      const report = stage.callbacks.result(NAME, RESULT).then(
        () => {
          heard = 'taken';
        },
        (error: unknown) => {
          heard = error instanceof ServiceError ? error.code : String(error);
        },
      );
      expect(await sent.receipt).toEqual(RESULT);
      expect(heard).toBe('nothing yet');
      if (told !== 'already_closed') sent.recorded(told === 'taken' ? undefined : lostRecord(null));
      await sent.close(null);
      await report;
      expect(heard).toBe(told);
    }
  });

  it('takes one result; a second, and every report after the end, is late', async () => {
    const stage = await Stage.open();
    const { sent } = await invoked(stage);
    await stage.callbacks.result(NAME, RESULT);
    const late = [
      () => stage.callbacks.result(NAME, RESULT),
      () => stage.callbacks.emit(NAME, 'a.b', 1),
      () => stage.callbacks.progress(NAME, {}),
    ];
    for (const report of late) await expect(report()).rejects.toMatchObject({ code: 'already_closed' });
    await sent.close(null);
    for (const report of late) await expect(report()).rejects.toMatchObject({ code: 'already_closed' });
  });

  it('is opened by its own token, which a server that was started again still knows', async () => {
    const stage = await Stage.open();
    const { token, sent } = await invoked(stage);
    const restarted = await Stage.open();
    const another = await Stage.open(await vaultWith(new Uint8Array(32).fill(1)));

    for (const { callbacks } of [stage, restarted]) {
      expect(callbacks.isToken(NAME, token)).toBe(true);
      for (const name of [{ ...NAME, sequence: 8 }, { ...NAME, sessionId: SESSION.replace('0', '1') }]) expect(callbacks.isToken(name, token)).toBe(false);
      for (const wrong of ['', `${token}=`, token.slice(1), `${token}A`, token.toLowerCase()]) expect(callbacks.isToken(NAME, wrong)).toBe(false);
    }
    expect(another.callbacks.isToken(NAME, token)).toBe(false);
    await expect(restarted.callbacks.result(NAME, RESULT)).rejects.toMatchObject({ code: 'already_closed' });
    await sent.close(null);
    expect(stage.callbacks.isToken(NAME, token)).toBe(true);
  });

  it('has a token that is a secret for as long as it is open', async () => {
    const stage = await Stage.open();
    const { token, sent } = await invoked(stage);
    const search = stage.secrets.of('local');
    expect(search.without(`x ${token}`)).toBe('x [secret removed]');
    await sent.close(null);
    expect(search.without(`x ${token}`)).toBe(`x ${token}`);
  });

  it('fails the operation where it cannot be made, and nothing is sent', async () => {
    const stage = await Stage.open(await vaultWith(null, true));
    const sent = stage.driver.send(stage.call());
    expect(await sent.receipt).toMatchObject({ type: 'failure', code: 'not_sent' });
    expect([sent.mayHaveArrived(), stage.posts.all.length]).toEqual([false, 0]);
  });
});

describe('closing an operation', () => {
  it('tells the environment of a call that was cancelled, under the record that says so, once and with the same credential', async () => {
    const stage = await Stage.open();
    const sent = stage.driver.send(stage.call());
    const posted = await stage.posts.at(0);
    const closed = sent.close(9);
    expect(posted.signal.aborted).toBe(true);
    const { url, headers, body, answer } = await stage.posts.at(1);
    expect(url).toBe(posted.url);
    expect(headers).toMatchObject({ Authorization: `Bearer ${CREDENTIAL}`, 'Idempotency-Key': `${SESSION}/9` });
    expect(JSON.parse(body)).toEqual({
      contract: 'environment/v1',
      operation: { session_id: SESSION, environment: 'air', sequence: 9, request: { type: 'cancel', target_sequence: 7 } },
    });
    answer(answered({ type: 'accepted' }, 9));
    await closed;
    expect(await sent.receipt).toMatchObject({ type: 'unknown' });
    expect([stage.posts.all.length, stage.clock.timerCount]).toEqual([2, 0]);
  });

  it('is over when its cancel fails, or is not answered for a minute', async () => {
    const stage = await Stage.open();
    for (const end of [(posted: Posted) => posted.answer({ kind: 'lost', reason: 'gone' }), () => stage.clock.advance(60_000)]) {
      const from = stage.posts.all.length;
      const sent = stage.driver.send(stage.call());
      await stage.posts.at(from);
      const closed = sent.close(9);
      end(await stage.posts.at(from + 1));
      await closed;
    }
  });

  it('sends nothing where nothing is to be stopped, or nothing can have arrived', async () => {
    const stage = await Stage.open();
    const over = stage.driver.send(stage.call());
    (await stage.posts.at(0)).answer(answered(RESULT));
    await over.receipt;
    await over.close(null);

    const setup = stage.driver.send(stage.call({ type: 'setup', configuration: {} }));
    await stage.posts.at(1);
    await setup.close(9);

    stage.connects = false;
    const connecting = stage.driver.send(stage.call());
    const { signal } = await stage.posts.at(2);
    await connecting.close(9);
    expect(signal.aborted).toBe(true);

    const beforeItsCallback = stage.driver.send(stage.call());
    await beforeItsCallback.close(9);
    expect(await beforeItsCallback.receipt).toMatchObject({ type: 'unknown' });
    expect(stage.posts.all).toHaveLength(3);
    expect(stage.secrets.of('local').isOn).toBe(false);
  });
});
