/**
 * Operations over real sockets, from the driver to an environment and back through the callback's routes. Each is one
 * request on one connection, whatever the environment does.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../machines/messages.ts';
import { Callbacks } from '../../services/environments/callbacks.ts';
import { httpDriver } from '../../services/environments/http-driver.ts';
import { httpTransport, type HttpTransport } from '../../services/environments/http-transport.ts';
import type { EnvironmentDriver, OperationRequest, Receipt, SentOperation } from '../../services/environments/operation.ts';
import { ServiceError } from '../../services/errors.ts';
import { Secrets } from '../../services/secrets.ts';
import { systemClock, systemRandom } from '../../services/system.ts';
import { Vault } from '../../services/vault.ts';
import { answering, EnvironmentServer, type Behaviour } from '../support/environment-server.ts';
import { LivingServer } from '../support/living-server.ts';

const SESSION = '019b7a5e6c00700080a1b2c3d4e5f607';
const INVOKE: OperationRequest = { type: 'invoke', tool: 'book', input: { seat: 1 }, deadline_ms: null };
const RESULT = { type: 'result', output: 'booked' } as const;
const ACCEPTED = { type: 'accepted' } as const;
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

interface Said {
  readonly emitted: { readonly type: string; readonly data: JsonValue }[];
  readonly progress: unknown[];
}

let environment: EnvironmentServer;
let transport: HttpTransport;
let driver: EnvironmentDriver;
let server: LivingServer;
let said: Said;
let refuses: ServiceError | null;

beforeAll(async () => {
  const vault = await Vault.open({ key: new Uint8Array(32), keyFile: { read: async () => null, make: async () => undefined }, random: systemRandom, hasSealed: async () => false });
  const callbacks = new Callbacks({ vault, secrets: new Secrets([]), publicUrl: () => server.url });
  server = await LivingServer.open({ callbacks });
  transport = httpTransport();
  driver = httpDriver({ transport, callbacks, clock: systemClock, log: quiet });
});

beforeEach(async () => {
  environment = await EnvironmentServer.start();
  said = { emitted: [], progress: [] };
  refuses = null;
});

afterEach(async () => {
  await environment.close();
});

afterAll(async () => {
  await transport.close();
  await server.close();
});

function send(request: OperationRequest = INVOKE, url = environment.url, sequence = 7): SentOperation {
  const sent = driver.send({
    tenant: 'local',
    environment: { name: 'air', driver: 'http', url, configuration: {} },
    operation: { session_id: SESSION, environment: 'air', sequence, request },
    credential: 'the-credential',
    listener: {
      emit: async (type, data) => {
        if (refuses !== null) throw refuses;
        said.emitted.push({ type, data });
      },
      progress: (progress) => {
        said.progress.push(progress);
      },
    },
  });
  // As whoever sends it does, once the record is durable.
  void sent.receipt.then(() => sent.recorded());
  return sent;
}

/** What an operation comes to, and that it was asked once on one connection. */
async function receiptWhere(behaviour: Behaviour, request?: OperationRequest): Promise<Receipt> {
  environment.script = () => behaviour;
  const [connections, requests] = [environment.connections, environment.received.all.length];
  const sent = send(request);
  const receipt = await sent.receipt;
  await sent.close(null);
  expect([environment.connections, environment.received.all.length]).toEqual([connections + 1, requests + 1]);
  return receipt;
}

describe('an environment over HTTP', () => {
  it('is asked once, with its credential and under the name of the record', async () => {
    expect(await receiptWhere(answering(RESULT))).toEqual(RESULT);
    const { path, key, authorization, contract, operation } = await environment.received.at(0);
    expect([path, key, authorization, contract]).toEqual(['POST /v1/operations', `${SESSION}/7`, 'Bearer the-credential', 'environment/v1']);
    expect(operation.request).toEqual(INVOKE);
    expect(await receiptWhere(answering(ACCEPTED), { type: 'teardown' })).toEqual(ACCEPTED);
  });

  it('S-034: is asked once whatever it answers, and what is not known is unknown (cases 10, 11, 34)', async () => {
    const valid = `{"contract":"environment/v1","sequence":7,"receipt":{"type":"result","output":"a`;
    const behaviours: readonly (readonly [Behaviour, object])[] = [
      [{ kind: 'raw', status: 401 }, { type: 'failure', code: 'unauthorized' }],
      [{ kind: 'raw', status: 403, body: 'x'.repeat(100_000) }, { type: 'failure', code: 'forbidden' }],
      [{ kind: 'raw', status: 404 }, { type: 'failure', code: 'not_found' }],
      [{ kind: 'raw', status: 204 }, { type: 'unknown' }],
      [{ kind: 'raw', status: 500, body: 'canary' }, { type: 'unknown' }],
      [{ kind: 'raw', status: 307, headers: { location: '/v1/operations' } }, { type: 'unknown' }],
      [{ kind: 'raw', status: 302, headers: { location: `${environment.url}/elsewhere` } }, { type: 'unknown' }],
      [{ kind: 'raw', status: 200, body: 'canary, no JSON' }, { type: 'unknown' }],
      [{ kind: 'raw', status: 200, body: Buffer.concat([Buffer.from(valid), Uint8Array.of(0xff), Buffer.from('b"}}')]) }, { type: 'result', output: 'a\ufffdb' }],
      [{ kind: 'raw', status: 200, body: `${valid}\\ud83e"}}` }, { type: 'result', output: 'a\ufffd' }],
      [{ kind: 'raw', status: 200, body: `${valid}${'x'.repeat(9 * 1024 * 1024)}"}}` }, { type: 'unknown' }],
      [{ kind: 'raw', status: 200, body: '['.repeat(1_000_000) }, { type: 'unknown' }],
      [{ kind: 'breaks_off', body: `${valid}"}}` }, { type: 'unknown' }],
      [{ kind: 'hangs_up' }, { type: 'unknown' }],
      [{ ...answering(RESULT), sequence: 8 } as Behaviour, { type: 'unknown' }],
      [{ ...answering(RESULT), contract: 'environment/v2' } as Behaviour, { type: 'unknown' }],
    ];
    for (const [behaviour, expected] of behaviours) {
      const receipt = await receiptWhere(behaviour);
      expect(receipt).toMatchObject(expected);
      expect(JSON.stringify(receipt)).not.toMatch(/canary|the-credential/);
    }
  });

  it('is known not to have been asked where no connection can be made', async () => {
    const gone = await EnvironmentServer.start();
    const { url } = gone;
    await gone.close();
    for (const [at, reason] of [[url, 'refused'], [environment.url.replace('http:', 'https:'), ''], ['http://nowhere.invalid', '']] as const) {
      const sent = send(INVOKE, at);
      const receipt = await sent.receipt;
      expect(receipt).toMatchObject({ type: 'failure', code: 'not_reached' });
      expect(JSON.stringify(receipt)).toContain(reason);
      expect(sent.mayHaveArrived()).toBe(false);
      await sent.close(9);
    }
    expect(environment.asked).toEqual([]);
  });

  it('is left when its call is cancelled: its socket closes, and it is told once to stop (cases 21, 22)', async () => {
    environment.script = ({ operation }) => (operation.request.type === 'invoke' ? { kind: 'hangs' } : answering(ACCEPTED));
    const sent = send();
    const { hungUp } = await environment.first('invoke');
    expect(sent.mayHaveArrived()).toBe(true);
    await sent.close(9);
    await hungUp;
    expect(environment.asked).toEqual([`invoke ${SESSION}/7`, `cancel ${SESSION}/9`]);
    expect((await environment.first('cancel')).operation).toMatchObject({ sequence: 9, request: { type: 'cancel', target_sequence: 7 } });
    expect(environment.connections).toBe(2);
  });

  it('is left although it never reads what it is asked', async () => {
    const sockets: Socket[] = [];
    const deaf: Server = createServer((socket) => {
      socket.pause();
      socket.on('error', () => undefined);
      sockets.push(socket);
    });
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
    const connected = new Promise<void>((resolve) => deaf.once('connection', () => resolve()));
    const sent = send({ ...INVOKE, input: 'x'.repeat(20_000_000) }, `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`);
    await connected;
    await sent.close(null);
    expect(await sent.receipt).toMatchObject({ type: 'unknown' });
    const [socket] = sockets;
    const closed = new Promise<void>((resolve) => socket?.once('close', () => resolve()));
    socket?.resume();
    await closed;
    await new Promise((resolve) => deaf.close(resolve));
  });
});

describe('a callback over HTTP', () => {
  it('brings the result of what was accepted, once; what comes later is told so (case 22)', async () => {
    environment.script = () => answering(ACCEPTED);
    const sent = send();
    const { report } = await environment.first('invoke');
    expect(await report('progress', { message: 'half', fraction: 0.5 })).toBe(204);
    expect(await report('emit', { type: 'air.booked', data: [1] })).toBe(204);
    expect(await report('result', { receipt: { type: 'oops' } })).toBe(400);
    expect(await report('result', { receipt: RESULT, sequence: 8 })).toBe(400);
    expect(await report('result', { receipt: RESULT, sequence: 7, contract: 'environment/v1' })).toBe(204);
    expect(await sent.receipt).toEqual(RESULT);
    for (const method of ['result', 'emit', 'progress']) {
      const body = { result: { receipt: RESULT }, emit: { type: 'a.b', data: 1 }, progress: {} }[method];
      expect([method, await report(method, body)]).toEqual([method, 409]);
    }
    await sent.close(null);
    expect(await report('result', { receipt: RESULT })).toBe(409);
    expect(said).toEqual({ emitted: [{ type: 'air.booked', data: [1] }], progress: [{ message: 'half', fraction: 0.5 }] });
    expect(environment.repeated).toEqual([]);
  });

  it('counts before the answer, whatever that says afterwards', async () => {
    environment.script = async ({ report }) => {
      expect(await report('result', { receipt: RESULT })).toBe(204);
      return { kind: 'raw', status: 500 };
    };
    const sent = send();
    expect(await sent.receipt).toEqual(RESULT);
    await sent.close(null);
  });

  it('counts while the environment hangs, and its request is let go then', async () => {
    environment.script = () => ({ kind: 'hangs' });
    const sent = send();
    const { report, hungUp } = await environment.first('invoke');
    expect(await report('result', { receipt: { type: 'failure', code: 'full', message: 'no seat', retryable: false } })).toBe(204);
    expect(await sent.receipt).toMatchObject({ type: 'failure', code: 'full' });
    await sent.close(null);
    await hungUp;
  });

  it('tells of a refused event, and leaves the operation open (case 39)', async () => {
    environment.script = () => answering(ACCEPTED);
    const sent = send();
    const { report } = await environment.first('invoke');
    for (const [code, status] of [['reserved_type', 400], ['too_large', 413], ['already_closed', 409]] as const) {
      refuses = new ServiceError(code, 'no');
      expect(await report('emit', { type: 'session.ended', data: 1 })).toBe(status);
    }
    expect(await report('result', { receipt: RESULT })).toBe(204);
    expect(await sent.receipt).toEqual(RESULT);
    await sent.close(null);
  });

  it('is of one operation: its token opens no other', async () => {
    environment.script = () => answering(ACCEPTED);
    const [one, other] = [send(INVOKE, environment.url, 7), send(INVOKE, environment.url, 8)];
    const first = await environment.received.first(({ operation }) => operation.sequence === 7);
    const { callback } = first.operation;
    const response = await server.send('POST', `/v1/callbacks/${SESSION}/8/result`, { body: { receipt: RESULT }, headers: { authorization: `Bearer ${callback?.token ?? ''}` } });
    expect(response.status).toBe(401);
    expect(await first.report('result', { receipt: RESULT })).toBe(204);
    expect(await one.receipt).toEqual(RESULT);
    await Promise.all([one.close(null), other.close(null)]);
  });
});
