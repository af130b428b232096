/** A living brain whose sessions run a turn that the test wrote, with what most tests of a turn's services do. */
import type { RecordType, SessionRecord } from '../../machines/records.ts';
import type { LoopToolCall, TurnResult } from '../../services/loops/agent-loop.ts';
import type { CreateSession, TurnAnswer } from '../../services/session-service.ts';
import { LivingBrain, TENANT, type LivingBrainOptions } from './living-brain.ts';
import { TestLoops, type Turn } from './test-loops.ts';

export const RETURNED: TurnResult = { kind: 'returned' };

export class TurnStage {
  readonly brain: LivingBrain;
  readonly sessionId: string;

  private constructor(brain: LivingBrain, sessionId: string) {
    this.brain = brain;
    this.sessionId = sessionId;
  }

  /** `before`: what is done before the session is created. */
  static async set(
    turn: Turn,
    options: LivingBrainOptions & { readonly session?: Partial<CreateSession>; readonly before?: (brain: LivingBrain) => Promise<void> } = {},
  ): Promise<TurnStage> {
    const { session, before, ...rest } = options;
    const brain = await LivingBrain.start({ ...rest, loops: new TestLoops(turn) });
    await before?.(brain);
    const { session_id } = await brain.create({ tools: ['look', 'act'], ...session });
    return new TurnStage(brain, session_id);
  }

  send(text = 'hello'): Promise<TurnAnswer> {
    return this.brain.sessions.send(TENANT, this.sessionId, text);
  }

  cancel(): Promise<void> {
    return this.brain.sessions.cancel(TENANT, this.sessionId);
  }

  /** The next turns are these instead. */
  play(turn: Turn): void {
    this.brain.loops.turn = turn;
  }

  async records<T extends RecordType>(type: T): Promise<readonly SessionRecord<T>[]> {
    const records = await this.brain.journal(this.sessionId);
    return records.filter((record) => record.type === type) as unknown as readonly SessionRecord<T>[];
  }
}

export function call(tool: string, input: Readonly<Record<string, unknown>> = {}): LoopToolCall {
  return { tool, tool_use_id: `use_${tool}`, input_text: JSON.stringify(input) };
}

export function never(): Promise<never> {
  return new Promise(() => undefined);
}
