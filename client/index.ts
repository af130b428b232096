/** The package's face: `import { Brain } from "@aexhq/brain"`. */
export type { LivingEvent, LivingToldEvent, OtherType, RecordedEvent, ToldEvent } from '../http/wire/event-types.ts';
export { Brain, type BrainOptions } from './brain.ts';
export {
  hostEnv,
  httpEnv,
  type Environment,
  type EnvironmentTool,
  type HookContext,
  type HostEnvironment,
  type HostEnvironmentOptions,
  type HttpEnvironment,
  type HttpEnvironmentOptions,
} from './environments.ts';
export {
  BrainAbortError,
  BrainClosedError,
  BrainConnectionError,
  BrainError,
  BrainHostLostError,
  BrainTimeoutError,
  StructuredOutputError,
  type ErrorCode,
  type KnownErrorCode,
  type OutputAttempt,
} from './errors.ts';
export { LifecycleSession, type QueuedEvent, type QueueOptions } from './lifecycle-session.ts';
export type { RegisteredHost } from './host-wire.ts';
export type { CheckedJsonSchema, JsonSchema, OutputType, StandardSchema } from './output-type.ts';
export type { ClientClock, Fetch } from './ports.ts';
export { Session, type OutputOptions, type ReadOptions, type SendOptions, type StreamOptions, type SubmitOptions } from './session.ts';
export { serveTools, type ServedTools, type ServeToolsOptions } from './serve-tools.ts';
export type * from './session-types.ts';
export type { Sessions } from './sessions.ts';
export type { OutputRequest, StructuredTurn } from './structured-output.ts';
export { tool, ToolError, type Tool, type ToolContext, type ToolInput, type ToolOptions } from './tool.ts';
export type { CallOptions, KeyedOptions } from './transport.ts';
