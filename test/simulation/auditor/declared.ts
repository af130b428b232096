/** What tenants declared, as far as they know it: a session has what stood there when it was asked for. */
import { declarationOf, TOOL_OF, type EnvironmentName } from '../environment-declarations.ts';
import type { DurableSessions } from './durable-sessions.ts';
import { expectThat, same } from './violation.ts';

type Plain = Readonly<Record<string, unknown>>;
/** Null: none. */
type Version = number | null;

interface Standing {
  /** One of these stands there. */
  possible: Set<Version>;
  underWay: number;
  /** Whether several changes were under way since none was: their order is nobody's to know. */
  areSeveral: boolean;
}

export class Declared {
  readonly #sessions: DurableSessions;
  readonly #standing = new Map<string, Standing>();
  /** What a create may find, by the session's label. */
  readonly #creates = new Map<string, Map<string, Set<Version>>>();
  readonly #looked = new Set<string>();

  constructor(sessions: DurableSessions) {
    this.#sessions = sessions;
  }

  asked(tenant: string, name: EnvironmentName, version: Version): void {
    const standing = this.#of(tenant, name);
    standing.possible.add(version);
    standing.areSeveral = standing.underWay > 0;
    standing.underWay += 1;
    for (const found of this.#creates.values()) found.get(`${tenant} ${name}`)?.add(version);
  }

  settled(tenant: string, name: EnvironmentName, version: Version, isDone: boolean): void {
    const standing = this.#of(tenant, name);
    standing.underWay -= 1;
    if (isDone && standing.underWay === 0 && !standing.areSeveral) standing.possible = new Set([version]);
  }

  /** What was under way may be done, or not. */
  died(): void {
    for (const standing of this.#standing.values()) Object.assign(standing, { underWay: 0, areSeveral: false });
  }

  mayStand(tenant: string, name: EnvironmentName): boolean {
    return [...this.#of(tenant, name).possible].some((version) => version !== null);
  }

  createAsked(tenant: string, label: string, names: readonly EnvironmentName[]): void {
    const found = this.#creates.get(label) ?? new Map<string, Set<Version>>();
    this.#creates.set(label, found);
    for (const name of names) {
      const key = `${tenant} ${name}`;
      found.set(key, new Set([...(found.get(key) ?? []), ...this.#of(tenant, name).possible]));
    }
  }

  /** Whether a create may have found that something was not declared. */
  mayHaveBeenMissing(label: string): boolean {
    return [...(this.#creates.get(label)?.values() ?? [])].some((possible) => possible.has(null));
  }

  look(): void {
    for (const id of this.#sessions.ids) {
      const ledger = this.#sessions.ledger(id);
      if (ledger === null || this.#looked.has(id)) continue;
      this.#looked.add(id);
      const { environments, system, tenant, tools } = ledger.created as { readonly environments: readonly Plain[]; readonly system: string; readonly tenant: string; readonly tools: readonly Plain[] };
      for (const { name: given, ...environment } of environments) {
        const name = given as EnvironmentName;
        const { version } = environment['configuration'] as { readonly version: number };
        const { tools: offered, ...declared } = declarationOf(name, version);
        const isPossible = this.#creates.get(system)?.get(`${tenant} ${name}`)?.has(version) === true;
        expectThat(isPossible && same(environment, declared), 15, () => `${system} has ${name} in version ${version}, which was not declared then`);
        const tool = tools.find((one) => one['name'] === TOOL_OF[name]);
        expectThat(same(tool, { ...offered[0], environment: name }), 15, () => `${system} has another tool of ${name} than version ${version} offers`);
      }
    }
  }

  #of(tenant: string, name: string): Standing {
    const key = `${tenant} ${name}`;
    const standing = this.#standing.get(key) ?? { possible: new Set<Version>([null]), underWay: 0, areSeveral: false };
    this.#standing.set(key, standing);
    return standing;
  }
}
