/**
 * Carries out one operation of a host's, and says what came of it.
 *
 *   P1. Whatever happens there is a receipt. An error's message is in it, its stack and its cause are not.
 *   P2. A result that is no JSON is an error that says so.
 *   P3. Nothing of a tool's is asked a second time: what is handed on is plain data.
 */
import type { HookContext } from './environments.ts';
import { failure, type HostOperation, type HostReceipt } from './host-wire.ts';
import { ToolError, UnfitInput, type Tool, type ToolContext } from './tool.ts';

// As much as Brain takes of each.
const MESSAGE_CHARACTERS_MAX = 65_536;
const CODE_CHARACTERS_MAX = 128;

/** What this process has for an environment. */
export interface HostedEnvironment {
  readonly tools: readonly Tool[];
  setup?(context: HookContext): unknown;
  detach?(context: HookContext): unknown;
  teardown?(context: HookContext): unknown;
}

export interface OperationVoice {
  readonly signal: AbortSignal;
  emit(type: string, data: unknown): Promise<void>;
  progress(progress: { readonly message?: string; readonly fraction?: number }): void;
}

export async function carryOut(operation: HostOperation, environment: HostedEnvironment | undefined, voice: OperationVoice): Promise<HostReceipt> {
  const { request } = operation;
  if (environment === undefined) return failure('unknown_environment', `this process serves no environment ${operation.environment}`);
  try {
    if (request.type === 'invoke') return await invoke(operation, request, environment, voice);
    await runHook(operation, environment, voice.signal);
    return { type: 'accepted' };
  } catch (error) {
    return failureOf(error);
  }
}

async function invoke(
  { session_id: sessionId, sequence }: HostOperation,
  { tool: name, input }: Extract<HostOperation['request'], { readonly type: 'invoke' }>,
  { tools }: HostedEnvironment,
  voice: OperationVoice,
): Promise<HostReceipt> {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) return failure('unknown_tool', `this process has no tool ${name}`);
  const context: ToolContext = { ...voice, sessionId, sequence, tool: name };
  const output = await tool.call(input, context);
  const plain = plainOf(output ?? null);
  return plain === undefined ? failure('result_not_json', 'the tool ran, but what it returned cannot be said as JSON') : { type: 'result', output: plain };
}

async function runHook({ session_id: sessionId, sequence, environment: name, request }: HostOperation, environment: HostedEnvironment, signal: AbortSignal): Promise<void> {
  const configuration = request.type === 'setup' ? request.configuration : {};
  const context: HookContext = { sessionId, sequence, environment: name, configuration, signal };
  if (request.type === 'setup') await environment.setup?.(context);
  else if (request.type === 'detach') await environment.detach?.(context);
  else if (request.type === 'teardown') await environment.teardown?.(context);
  else throw new ToolError('this client is too old for what was asked of it', { code: 'unknown_operation' });
}

/** Undefined: it cannot be said as JSON. */
function plainOf(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function failureOf(error: unknown): HostReceipt {
  try {
    return failureIn(error);
  } catch {
    // What was thrown throws, too, when it is looked at.
    return failure('tool_failed', 'the tool threw what cannot be put into words');
  }
}

function failureIn(error: unknown): HostReceipt {
  const { message: said } = error instanceof Error ? (error as { readonly message: unknown }) : { message: error };
  const message = clipped(String(said));
  if (error instanceof UnfitInput) return failure('invalid_input', message);
  if (!(error instanceof ToolError)) return failure('tool_failed', message);
  const { code, retryable, details } = error as { readonly code: unknown; readonly retryable: unknown; readonly details: unknown };
  const told = { type: 'failure', code: (typeof code === 'string' && code.slice(0, CODE_CHARACTERS_MAX)) || 'tool_failed', message, retryable: retryable === true } as const;
  const plain = plainOf(details);
  return isObject(plain) ? { ...told, details: plain } : told;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function clipped(message: string): string {
  return message.slice(0, MESSAGE_CHARACTERS_MAX);
}
