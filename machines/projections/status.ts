/** A session's public status: a reading of the chart's state, and nothing that is stored. */

/** The states of the session chart, as records carry them. */
export const CHART_STATES = [
  'none',
  'creating',
  'idle',
  'suspended',
  'running.working',
  'running.cancelling',
  'interrupted',
  'failed',
  'unusable',
  'ending',
  'ended',
] as const;
export type ChartState = (typeof CHART_STATES)[number];

export const SESSION_STATUSES = ['creating', 'idle', 'running', 'interrupted', 'ending', 'ended', 'failed'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** A state of no session, `none`, has no status: nothing is there before the first record. */
export const STATUS_OF_STATE: Readonly<Record<Exclude<ChartState, 'none'>, SessionStatus>> = {
  creating: 'creating',
  idle: 'idle',
  suspended: 'idle',
  'running.working': 'running',
  'running.cancelling': 'running',
  interrupted: 'interrupted',
  failed: 'failed',
  unusable: 'failed',
  ending: 'ending',
  ended: 'ended',
};

export const LIFECYCLE_STATUSES = ['idle', 'running', 'interrupted', 'failed', 'closed'] as const;
/** A session's status on the lifecycle surface. */
export type LifecycleStatus = (typeof LIFECYCLE_STATUSES)[number];

/**
 * Null: the session is not there yet. One that failed while it was created can only be ended or deleted, and reads
 * `closed`: what reads `failed` can be resumed.
 */
export const LIFECYCLE_STATUS_OF_STATE: Readonly<Record<Exclude<ChartState, 'none'>, LifecycleStatus | null>> = {
  creating: null,
  idle: 'idle',
  suspended: 'idle',
  'running.working': 'running',
  'running.cancelling': 'running',
  interrupted: 'interrupted',
  failed: 'failed',
  unusable: 'closed',
  ending: 'closed',
  ended: 'closed',
};
