/** A session as the examples of the OpenAPI document show it. */
import type { SessionAnswer } from './answers.ts';

export const EXAMPLE_SESSION_ID = '019b7a5e6c00700080a1b2c3d4e5f607';

export const EXAMPLE_SESSION: SessionAnswer = {
  session_id: EXAMPLE_SESSION_ID,
  tenant: 'local',
  status: 'idle',
  resident: true,
  last_sequence: 2,
  last_recorded_at: '2026-01-01T12:00:00Z',
  running_turn: null,
  queue_length: 0,
  created_at: '2026-01-01T12:00:00Z',
  updated_at: '2026-01-01T12:00:00Z',
  agentloop: { name: 'chat', configuration: {} },
  model: { provider: 'demo', name: 'echo' },
  system: 'Be brief.',
  tools: ['add'],
  environments: [],
  after_stop: 'idle',
  idle_ttl_ms: null,
  metadata: { team: 'red' },
};
