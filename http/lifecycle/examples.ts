/** What the examples of the OpenAPI document show of this surface. */
import { EXAMPLE_SESSION_ID } from '../wire/examples.ts';
import type { LifecycleEventAnswer } from '../wire/lifecycle-events.ts';
import type { LifecycleSessionAnswer } from '../wire/lifecycle-answers.ts';

export const EXAMPLE_CREATE = {
  harness: 'pi',
  config: { model: 'openai/gpt-4.1-mini', instructions: 'Answer in one paragraph.', tools: [] },
};

export const EXAMPLE_LIFECYCLE_SESSION: LifecycleSessionAnswer = {
  id: EXAMPLE_SESSION_ID,
  ...EXAMPLE_CREATE,
  status: 'idle',
  created_at: '2026-01-01T12:00:00Z',
  updated_at: '2026-01-01T12:00:00Z',
  checkpoint: { id: '0f8e2a6c1d3b4e5f9a7c6b5d4e3f2a1b', offset: 0, time: '2026-01-01T12:00:00Z' },
};

export const EXAMPLE_MESSAGE_EVENT: LifecycleEventAnswer & { readonly text: string; readonly key: string } = {
  id: '3.0',
  type: 'user.message',
  session_id: EXAMPLE_SESSION_ID,
  time: '2026-01-01T12:00:00Z',
  input_id: '3.0',
  text: 'Summarize our plan.',
  key: 'msg-0001',
};
