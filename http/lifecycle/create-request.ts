/** From a create on this surface to what the services create, and from what they refuse back to this surface's words. */
import { ServiceError } from '../../services/errors.ts';
import type { CreateSession } from '../../services/session-service.ts';
import { HttpError } from '../errors.ts';
import type { CreateLifecycleSessionBody } from '../wire/lifecycle-requests.ts';

export function createRequest({ harness, config, ...more }: CreateLifecycleSessionBody): CreateSession {
  const { model, instructions = '', tools, ...configuration } = config;
  const slash = model.indexOf('/');
  return {
    ...more,
    surface: 'sessions',
    agentloop: { name: harness, configuration },
    model: { provider: model.slice(0, slash), name: model.slice(slash + 1) },
    // An empty system prompt is none, and providers refuse it.
    ...(instructions === '' ? {} : { system: instructions }),
    ...(tools === undefined ? {} : { tools }),
    config_fields: Object.keys(config),
  };
}

/** Where in a create of this surface stands what the services name by its place in one of `/v1`. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/^\/agentloop\/name$/, '/harness'],
  [/^\/agentloop\/configuration(?=\/)/, '/config'],
  [/^\/model$/, '/config/model'],
  [/^\/tools(?=\/)/, '/config/tools'],
];

/** What a client of this surface hears. That a tenant may not use a tool does not tell whether there is one. */
export function refusalOfCreate(error: unknown, { harness, config }: CreateLifecycleSessionBody): unknown {
  if (!(error instanceof ServiceError)) return error;
  const field = fieldOf(error);
  switch (error.code) {
    case 'unknown_agentloop':
      return new HttpError('unknown_harness', `this server has no harness ${harness}`, { field, cause: error });
    case 'unknown_provider':
      return new HttpError('invalid_request', `the provider of ${config.model} is not configured`, { field, cause: error });
    case 'unknown_tool':
      return new HttpError('forbidden', 'a tool is not available to this tenant', { field, cause: error });
    case 'invalid_request':
      return new HttpError('invalid_request', error.message, { field, cause: error });
    default:
      return error;
  }
}

function fieldOf({ details }: ServiceError): string {
  const field = details?.['field'];
  if (typeof field !== 'string') return '';
  const [pattern, place] = FIELDS.find(([there]) => there.test(field)) ?? [/^/, ''];
  return field.replace(pattern, place);
}
