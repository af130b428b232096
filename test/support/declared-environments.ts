/** Environments that a test declares, and sessions on them. */
import type { RecordType, SessionRecord } from '../../machines/records.ts';
import { KeyedCall } from '../../services/keyed-call.ts';
import type { SessionView } from '../../services/session-service.ts';
import { LivingBrain, TENANT, type LivingBrainOptions } from './living-brain.ts';
import { ScriptedEnvironments, type EnvironmentScript } from './scripted-environments.ts';

const CONFIGURATION = { room: 7 } as const;

/** A brain with these environments declared: `laptop` is at a host, all others at an address. */
export async function brainWith(
  names: readonly string[],
  script?: EnvironmentScript,
  options: LivingBrainOptions & { readonly credential?: string } = {},
): Promise<LivingBrain> {
  const brain = await LivingBrain.start({ ...options, environments: new ScriptedEnvironments(script) });
  if (options.credential !== undefined) await brain.brain.credentials.put(TENANT, 'key', options.credential);
  const credential = options.credential === undefined ? {} : { credential: 'key' };
  for (const name of names) {
    const at = name === 'laptop' ? ({ driver: 'host' } as const) : ({ driver: 'http', url: `http://${name}.test`, ...credential } as const);
    await brain.brain.environments.put(TENANT, name, { ...at, configuration: CONFIGURATION, tools: [] });
  }
  return brain;
}

export function createOn(brain: LivingBrain, environments: readonly string[], keyed?: KeyedCall): Promise<SessionView> {
  return brain.sessions.create(TENANT, { surface: 'v1', agentloop: { name: 'test' }, tools: [], environments }, keyed);
}

/** A session on these environments whose end is over. */
export async function endedOn(brain: LivingBrain, environments: readonly string[]): Promise<string> {
  const { session_id } = await createOn(brain, environments);
  await brain.sessions.end(TENANT, session_id);
  return session_id;
}

export async function recordsOf<T extends RecordType>(brain: LivingBrain, sessionId: string, type: T): Promise<readonly SessionRecord<T>[]> {
  const records = await brain.journal(sessionId);
  return records.filter((record) => record.type === type) as unknown as readonly SessionRecord<T>[];
}

export function createKey(key = 'key'): KeyedCall<'create'> {
  return new KeyedCall('create', key, 'body');
}

export function deleteKey(key = 'key'): KeyedCall<'delete'> {
  return new KeyedCall('delete', key, 'body');
}
