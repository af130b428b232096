/**
 * A tool that an environment runs: one `invoke` operation for each call, named by the record of the call's start. Where the
 * driver itself fails nobody knows what it had sent by then.
 */
import type { ResolvedEnvironment, ResolvedTool } from '../../machines/records.ts';
import type { Log } from '../ports.ts';
import type { StartedCall, ToolAnswer, ToolExecutor, ToolInvocation } from '../tools/tool-executor.ts';
import type { EnvironmentDriver, Receipt, SentOperation } from './operation.ts';

export interface EnvironmentToolParts {
  readonly tenant: string;
  readonly sessionId: string;
  readonly tool: ResolvedTool;
  readonly environment: ResolvedEnvironment;
  readonly driver: EnvironmentDriver;
  /** The session's own copy; null where the environment is called without one. */
  readonly credential: string | null;
  readonly log: Log;
}

export function environmentTool({ tenant, sessionId, tool, environment, driver, credential, log }: EnvironmentToolParts): ToolExecutor {
  const { name, configuration } = tool;
  return {
    invoke: ({ input, sequence, deadlineMs, listener }: StartedCall) => {
      const request = { type: 'invoke', tool: name, input, deadline_ms: deadlineMs, ...(configuration === undefined ? {} : { configuration }) } as const;
      const operation = { session_id: sessionId, environment: environment.name, sequence, request };
      const faulty = (error: unknown): ToolAnswer => {
        log.error('environment_call_failed', { session_id: sessionId, environment: environment.name, sequence, error: String(error) });
        return { kind: 'unknown', message: 'the server failed in this call; its log says why' };
      };
      let sent: SentOperation;
      try {
        sent = driver.send({ tenant, environment, operation, credential, listener });
      } catch (error) {
        return lost(faulty(error));
      }
      return {
        answer: sent.receipt.then(answerOf).catch(faulty),
        atDeadline: () => sent.atDeadline(),
        mayHaveArrived: () => sent.mayHaveArrived(),
        recorded: (failure) => sent.recorded(failure),
        close: (cancelAs) => sent.close(cancelAs),
      };
    },
  };
}

/** A call that nobody has in hand. */
function lost(answer: ToolAnswer): ToolInvocation {
  return {
    answer: Promise.resolve(answer),
    atDeadline: () => 'unknown',
    mayHaveArrived: () => true,
    recorded: () => undefined,
    close: () => Promise.resolve(),
  };
}

function answerOf(receipt: Receipt): ToolAnswer {
  switch (receipt.type) {
    case 'result':
      return { kind: 'returned', output: receipt.output };
    case 'failure': {
      const { code, message, retryable, details } = receipt;
      return { kind: 'failed', message: failureOf(code, message, retryable), ...(details === undefined ? {} : { details }) };
    }
    case 'unknown':
      return { kind: 'unknown', message: receipt.message };
    case 'accepted':
      // A driver waits for the result of what was accepted. Without it nobody knows what became of the call.
      return { kind: 'unknown', message: 'the environment took the call on and gave no result' };
  }
}

function failureOf(code: string, message: string, retryable: boolean): string {
  const said = message === '' ? code : `${message} (${code})`;
  return retryable ? `${said}; the environment says that the call may be made again` : said;
}
