/**
 * What a create's names stand for. Resolved once and recorded, without secrets: nothing that changes later (a file, a
 * provider, an option) moves the session.
 */
import type { Message } from '../machines/messages.ts';
import type { ResolvedModel, ResolvedTool, Retain, SessionCreated } from '../machines/records.ts';
import type { ResolvedDeclaration } from './environments/declarations.ts';
import { ServiceError } from './errors.ts';
import type { LoopRegistry } from './loops/loop-registry.ts';
import type { ModelRegistry } from './models/model-provider.ts';
import { plainMessages } from './plain-messages.ts';
import type { CreateSession } from './session-service.ts';
import { resolvedOwnTool, toolsNamed, toolsOf } from './session-tools.ts';
import type { ToolRegistry } from './tools/tool.ts';

const AGENTLOOP_DEFAULT = { name: 'chat' } as const;
const MODEL_DEFAULT = { provider: 'demo', name: 'echo' } as const;

export interface CreateServices {
  readonly loops: LoopRegistry;
  readonly models: ModelRegistry;
  readonly tools: ToolRegistry;
  /** For a session that does not say. */
  readonly retain: Retain;
}

/**
 * The creation record of a request, whose environments are `declared`, in its order. Throws a `ServiceError` that names what
 * could not be resolved.
 */
export function resolveCreation(
  tenant: string,
  request: CreateSession,
  { declared, ...services }: CreateServices & { readonly declared: readonly ResolvedDeclaration[] },
): SessionCreated {
  const model = resolveModel(request, services.models);
  const agentloop = request.agentloop ?? AGENTLOOP_DEFAULT;
  const configuration = ('configuration' in agentloop ? agentloop.configuration : undefined) ?? {};
  const registered = services.loops.find(agentloop.name);
  if (registered === null) throw unknown('unknown_agentloop', `there is no agent loop ${agentloop.name}`, '/agentloop/name');
  const problem = registered.configurationProblem(configuration);
  if (problem !== null) throw invalid(problem.message, `/agentloop/configuration${problem.field}`);
  return {
    tenant,
    surface: request.surface,
    agentloop: agentloop.name,
    configuration,
    model,
    ...(request.system === undefined ? {} : { system: request.system }),
    tools: resolveTools(request, model, { tenant, declared, registry: services.tools }),
    environments: declared.map(({ environment }) => environment),
    retain: request.idle_ttl_ms === undefined ? services.retain : request.idle_ttl_ms,
    after_stop: request.after_stop ?? (request.surface === 'v1' ? 'idle' : 'hold'),
    metadata: request.metadata ?? {},
    ...(request.config_fields === undefined ? {} : { config_fields: request.config_fields }),
  };
}

/** The opening conversation. Throws a `ServiceError` where it is none. */
export function seedOf(request: CreateSession): readonly Message[] {
  const seed = plainMessages(request.transcript ?? []);
  if (!seed.ok) throw invalid(`this cannot be a transcript: ${seed.reason}`, '/transcript');
  return seed.messages;
}

function resolveModel(request: CreateSession, models: ModelRegistry): ResolvedModel {
  const { provider, name, credential }: NonNullable<CreateSession['model']> = request.model ?? MODEL_DEFAULT;
  const resolved = models.resolve({ provider, name });
  if (resolved === null) throw unknown('unknown_provider', `this server has no model ${provider}/${name}`, '/model');
  return credential === undefined ? resolved : { ...resolved, credential };
}

function resolveTools(
  request: CreateSession,
  model: ResolvedModel,
  given: { readonly tenant: string; readonly declared: readonly ResolvedDeclaration[]; readonly registry: ToolRegistry },
): readonly ResolvedTool[] {
  if (request.tools !== undefined) return toolsNamed(request.tools, given);
  const { declared, registry } = given;
  if (declared.length > 0 || model.provider !== MODEL_DEFAULT.provider) return toolsOf(declared);
  return registry.demoTools.map(resolvedOwnTool);
}

function invalid(message: string, field: string): ServiceError {
  return new ServiceError('invalid_request', message, { details: { field } });
}

function unknown(code: 'unknown_agentloop' | 'unknown_provider', message: string, field: string): ServiceError {
  return new ServiceError(code, message, { details: { field } });
}
