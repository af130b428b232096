/** A session as it is shown: its creation, and what the catalog's row says of it. */
import {
  LIFECYCLE_STATUS_OF_STATE,
  STATUS_OF_STATE,
  type ChartState,
  type LifecycleStatus,
  type SessionStatus,
} from '../machines/projections/status.ts';
import type { SessionCreated } from '../machines/records.ts';
import type { CatalogRow } from './catalog.ts';
import type { SessionView } from './session-service.ts';

export function viewOf(sessionId: string, row: CatalogRow, created: SessionCreated, resident: boolean): SessionView {
  return {
    session_id: sessionId,
    tenant: row.tenant,
    status: statusOf(row.state),
    lifecycle_status: lifecycleStatusOf(row.state),
    resident,
    last_sequence: row.last_sequence,
    last_recorded_at: row.recorded_at,
    running_turn: row.turn,
    queue_length: row.queue_length,
    created_at: row.created_at,
    updated_at: row.updated_at,
    agentloop: { name: created.agentloop, configuration: created.configuration },
    model: created.model,
    ...(created.system === undefined ? {} : { system: created.system }),
    tools: created.tools,
    environments: created.environments.map(({ name }) => name),
    after_stop: created.after_stop,
    retain: created.retain,
    metadata: row.metadata,
    ...(created.config_fields === undefined ? {} : { config_fields: created.config_fields }),
    checkpoint: row.checkpoint,
  };
}

export function statusOf(state: ChartState): SessionStatus {
  return STATUS_OF_STATE[stateOfSession(state)];
}

export function lifecycleStatusOf(state: ChartState): LifecycleStatus | null {
  return LIFECYCLE_STATUS_OF_STATE[stateOfSession(state)];
}

function stateOfSession(state: ChartState): Exclude<ChartState, 'none'> {
  if (state === 'none') throw new Error('there is no session before its first record');
  return state;
}
