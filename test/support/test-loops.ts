/** Agent loops that a test writes for itself, beside the ones that the server has. */
import type { JsonObject } from '../../machines/messages.ts';
import type { AgentLoop, LoopHost, TurnInput, TurnResult } from '../../services/loops/agent-loop.ts';
import { loopRegistry, type LoopRegistry } from '../../services/loops/loop-registry.ts';

export type Turn = (input: TurnInput, host: LoopHost) => Promise<TurnResult>;

/** The turn of a session is the one that is set when it begins. */
export class TestLoops implements LoopRegistry {
  turn: Turn;

  constructor(turn: Turn = async () => ({ kind: 'returned' })) {
    this.turn = turn;
  }

  find(name: string): ReturnType<LoopRegistry['find']> {
    if (name !== 'test') return loopRegistry.find(name);
    const loop: AgentLoop = { name, turn: (input, host) => this.turn(input, host) };
    return { loop, configurationProblem: (_configuration: JsonObject) => null };
  }
}
