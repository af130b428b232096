/** The routes of the application, each registered with its contract. What is not in the table is no route. */
import { Router } from '@koa/router';
import type Koa from 'koa';
import type { Context } from 'koa';
import type { Admission } from './admission.ts';
import { ownTokenOf } from './auth.ts';
import type { GuardedContract, OpenContract, OwnTokenContract, RouteContract } from './contract.ts';

export class RouteTable {
  readonly #router = new Router({ sensitive: true, exclusive: true });
  readonly #contracts: RouteContract[] = [];
  readonly #admit: Admission;

  constructor(admit: Admission) {
    this.#admit = admit;
  }

  get contracts(): readonly RouteContract[] {
    return this.#contracts;
  }

  /** A route for everybody. */
  open(contract: OpenContract, handle: (context: Context) => Promise<void> | void): void {
    this.#add(contract, handle);
  }

  /** A route for callers who may use it; all others are refused before it. */
  guarded(contract: GuardedContract, handle: (context: Context, tenant: string) => Promise<void>): void {
    this.#add(contract, async (context) => handle(context, await this.#admit(context, contract)));
  }

  /** A route that a token of its own opens. Whether it is the right one is for the handler to say, before all else. */
  withOwnToken(contract: OwnTokenContract, handle: (context: Context, token: string) => Promise<void>): void {
    this.#add(contract, (context) => handle(context, ownTokenOf(context)));
  }

  addTo(app: Koa): void {
    app.use(this.#router.routes());
  }

  #add(contract: RouteContract, handle: (context: Context) => Promise<void> | void): void {
    this.#router[contract.method](contract.path.replaceAll(/\{(\w+)\}/g, ':$1'), handle);
    this.#contracts.push(contract);
  }
}
