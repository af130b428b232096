/** A tool of this server's own process. Closing a call is how it is told, through its signal, to stop. */
import type { JsonValue } from '../../machines/messages.ts';
import { StopSignal } from '../stop-signal.ts';
import type { StartedCall, ToolAnswer, ToolExecutor } from './tool-executor.ts';
import type { Tool, ToolContext } from './tool.ts';

export function ownTool(tool: Tool, sessionId: string): ToolExecutor {
  return {
    invoke: ({ input, sequence, listener }: StartedCall) => {
      const stop = new StopSignal();
      const answer = run(tool, input, {
        get signal() {
          return stop.signal;
        },
        session_id: sessionId,
        sequence,
        emit: (type, data) => listener.emit(type, data),
        progress: (progress) => {
          listener.progress(progress);
        },
      });
      return {
        answer,
        atDeadline: () => 'timeout',
        mayHaveArrived: () => true,
        // Nobody reported it: it was waited for here.
        recorded: () => undefined,
        close: async () => {
          stop.stop();
          await answer;
        },
      };
    },
  };
}

/** What a tool throws is its failure. */
async function run(tool: Tool, input: JsonValue, context: ToolContext): Promise<ToolAnswer> {
  try {
    return { kind: 'returned', output: (await tool.run(input, context)) ?? null };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}
