/** The disk of the simulated world: every call on it waits until the scheduler lets it act, and may wait again to answer. */
import { SimulatedDisk, type CallPlan, type DiskCall, type SimulatedProcess } from '../support/simulated-disk.ts';

export interface HeldCall {
  readonly call: DiskCall;
  /** `acted`: what it does is done, and its caller has not heard of it. */
  phase: 'waits' | 'acted';
  readonly plan: { -readonly [K in keyof CallPlan]: CallPlan[K] };
  proceed: () => void;
}

export class DiskPort {
  readonly disk = new SimulatedDisk();
  readonly held: HeldCall[] = [];
  /** Grows with everything that may have changed what is on the disk. */
  version = 0;
  /** Calls whose path has this in it get no answer. */
  stalled: string | null = null;

  constructor() {
    this.disk.plan = (call) => this.#hold(call);
  }

  /** The calls that may go on, oldest first. */
  get ready(): readonly HeldCall[] {
    const { stalled } = this;
    return stalled === null ? this.held : this.held.filter(({ call }) => !call.path.includes(stalled));
  }

  /** Lets a call act, and answer; or fail. */
  answer(held: HeldCall, fault: Pick<CallPlan, 'fails' | 'takes'> = {}): void {
    if (held.phase === 'waits') Object.assign(held.plan, fault);
    this.#remove(held);
    held.proceed();
  }

  /** Lets a call act, and keeps its answer back. */
  act(held: HeldCall): void {
    this.version += 1;
    let proceed = (): void => undefined;
    held.plan.answer = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    held.phase = 'acted';
    const start = held.proceed;
    held.proceed = proceed;
    start();
  }

  kill(process: SimulatedProcess): void {
    this.version += 1;
    this.held.length = 0;
    this.disk.kill(process);
  }

  cutPower(choose: (count: number) => number): void {
    this.version += 1;
    this.held.length = 0;
    this.disk.cutPower(choose);
  }

  damage(path: string, change: (bytes: Uint8Array) => Uint8Array): void {
    this.version += 1;
    this.disk.damage(path, change);
  }

  /** From now on only so many bytes more fit. Null: as many as there are. */
  limit(roomBytes: number | null): void {
    if (roomBytes === null) {
      this.disk.capacityBytes = Infinity;
      return;
    }
    const used = this.disk.files('/').reduce((sum, path) => sum + (this.disk.contents(path)?.length ?? 0), 0);
    this.disk.capacityBytes = used + roomBytes;
  }

  #hold(call: DiskCall): CallPlan {
    let proceed = (): void => undefined;
    const plan: HeldCall['plan'] = {
      start: new Promise<void>((resolve) => {
        proceed = resolve;
      }),
    };
    this.held.push({ call, phase: 'waits', plan, proceed });
    return plan;
  }

  #remove(held: HeldCall): void {
    this.version += 1;
    this.held.splice(this.held.indexOf(held), 1);
  }
}
