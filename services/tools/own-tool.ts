/** A tool of this server's own process. Closing a call is how it is told, through its signal, to stop. */
import type { JsonValue } from '../../machines/messages.ts';
import type { StartedCall, ToolAnswer, ToolExecutor } from './tool-executor.ts';
import type { Tool, ToolContext } from './tool.ts';

/** What a call is aborted with once it is over: made once, as hardly any tool still listens then. */
const CLOSED = new DOMException('the call is over', 'AbortError');

export function ownTool(tool: Tool, sessionId: string): ToolExecutor {
  return {
    invoke: ({ input, sequence, listener }: StartedCall) => {
      const abort = new AbortController();
      const answer = run(tool, input, {
        signal: abort.signal,
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
          abort.abort(CLOSED);
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
