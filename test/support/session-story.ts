/**
 * A session made by hand, without a server: commands decided and records added one after another, each committed at
 * once, with the journal that comes of it. What it keeps is what a journal would give back: records after JSON.
 */
import type { Command } from '../../machines/commands.ts';
import { decide, type Decision, type Rules } from '../../machines/decide.ts';
import { Draft, type DecidedRecord } from '../../machines/dry-run.ts';
import { recover } from '../../machines/recover.ts';
import { SessionState, type StateSnapshot } from '../../machines/replay.ts';
import type { KeyedRequest, RecordData, RecordType, ResolvedEnvironment, Sequence, SessionCreated, SessionRecord } from '../../machines/records.ts';

export const CREATED: SessionCreated = {
  tenant: 'local',
  surface: 'v1',
  agentloop: 'chat',
  configuration: {},
  model: { provider: 'demo', name: 'echo', protocol: 'demo' },
  system: 'be brief',
  tools: [
    { name: 'clock', description: 'tells the time', input_schema: {}, effect: 'read', environment: 'brain' },
    { name: 'mail', description: 'sends a mail', input_schema: {}, effect: 'once', environment: 'brain' },
  ],
  environments: [],
  retain: null,
  after_stop: 'idle',
  metadata: {},
};

/** An environment as a session keeps it, of either driver. */
export function environmentOf(name: string, driver: ResolvedEnvironment['driver'] = 'host'): ResolvedEnvironment {
  const common = { name, configuration: {} };
  return driver === 'host' ? { ...common, driver, host: name } : { ...common, driver, url: `http://${name}.test` };
}

export const RULES: Rules = { queueMessagesMax: 2 };

export class Story {
  readonly state = SessionState.empty();
  readonly #records: SessionRecord[] = [];
  readonly #commits: number[] = [];

  get records(): readonly SessionRecord[] {
    return this.#records;
  }

  /** How many records the journal had after each commit: where a process can have died. */
  get commits(): readonly number[] {
    return this.#commits;
  }

  /** Adds one record as a commit of its own and answers its sequence. Throws where the chart does not accept it. */
  record<T extends RecordType>(type: T, data: RecordData[T]): Sequence {
    const draft = new Draft(this.state.snapshot);
    const sequence = draft.add(type, data);
    this.#commit(draft.records);
    return sequence;
  }

  command(
    command: Command,
    options: { readonly wasResident?: boolean; readonly rules?: Rules; readonly request?: KeyedRequest } = {},
  ): Decision {
    const { snapshot, transcript, keyValues } = this.state;
    const metadata = this.state.lastSequence === 0 ? {} : this.state.facts.metadata;
    const standing = { snapshot, transcript, keyValues, metadata, wasResident: options.wasResident ?? true };
    const decision = decide(standing, command, options.rules ?? RULES, options.request);
    if (decision.kind === 'records') this.#commit(decision.records);
    return decision;
  }

  recover(): readonly DecidedRecord[] {
    const records = recover(this.state.snapshot);
    if (records.length > 0) this.#commit(records);
    return records;
  }

  #commit(decided: readonly DecidedRecord[]): void {
    for (const record of decided) {
      const committed: SessionRecord = throughJson({ ...record, recorded_at: 1_000 * record.sequence });
      this.state.apply(committed);
      this.#records.push(committed);
    }
    this.#commits.push(this.#records.length);
  }
}

/** The state that a fresh fold of these records makes. */
export function folded(records: readonly SessionRecord[]): SessionState {
  const state = SessionState.empty();
  for (const record of records) state.apply(record);
  return state;
}

/** A snapshot as plain data of its own. */
export function snapshotOf(state: SessionState): StateSnapshot {
  return throughJson(state.toSnapshot());
}

export function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** A story that has come to a turn whose loop is at work. */
export function storyAtWork(created: Partial<SessionCreated> = {}): {
  readonly story: Story;
  readonly message: Sequence;
  readonly activation: Sequence;
} {
  const story = new Story();
  story.command({ kind: 'create', created: { ...CREATED, ...created }, transcript: [] });
  return { story, ...startTurn(story, 'hello') };
}

/** Sends a message to a free session and starts its loop. */
export function startTurn(story: Story, input: string): { readonly message: Sequence; readonly activation: Sequence } {
  story.command({ kind: 'send', input, mode: 'sync' });
  const message = messageOf(story);
  story.command({ kind: 'start_activation', message_sequence: message, agentloop: 'chat' });
  return { message, activation: story.state.context.turn?.activation ?? 0 };
}

/** The message whose turn is running. */
export function messageOf(story: Story): Sequence {
  const { turn } = story.state.context;
  if (turn === null) throw new Error('no turn is running');
  return turn.message_sequence;
}
