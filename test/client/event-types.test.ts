/** Events as the compiler knows them. What it says here, it says when the project is compiled. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { LivingEvent, RecordedEvent, ToldEvent } from '../../client/index.ts';
import type { EventType } from '../../http/wire/event-types.ts';
import { RECORD_VISIBILITY } from '../../machines/records.ts';

/** What the compiler makes of an event of each kind. */
function readRecorded(event: RecordedEvent | LivingEvent): string {
  switch (event.type) {
    case 'turn_failed':
      expectTypeOf(event.sequence).toEqualTypeOf<number>();
      expectTypeOf(event.data.message).toEqualTypeOf<string>();
      return event.data.code;
    case 'message_queued':
      expectTypeOf(event.data.mode).toEqualTypeOf<'sync' | 'async' | 'queue'>();
      return event.data.mode;
    case 'model_delta':
      expectTypeOf(event.sequence).toEqualTypeOf<undefined>();
      return 'text' in event.data ? event.data.text : '';
    default:
      expectTypeOf(event.type).toExtend<string>();
      return event.type;
  }
}

function readTold(event: ToldEvent): string {
  switch (event.type) {
    case 'session.status':
      expectTypeOf(event.status).toEqualTypeOf<'idle' | 'running' | 'interrupted' | 'failed' | 'closed'>();
      return event.status;
    case 'tool.result':
      expectTypeOf(event.call_id).toEqualTypeOf<number>();
      return event.outcome;
    default:
      return event.id;
  }
}

describe('the types of events', () => {
  it('are told apart by comparing', () => {
    const failed: RecordedEvent = { sequence: 9, recorded_at: 1, type: 'turn_failed', data: { message_sequence: 3, code: 'cancelled', message: 'stopped', end: false } };

    expect(readRecorded(failed)).toBe('cancelled');
    expect(readRecorded({ type: 'model_delta', data: { started_sequence: 3, text: 'h' } })).toBe('h');
    expect(readTold({ id: '4.0', session_id: 'a', time: 'now', type: 'session.status', status: 'idle' })).toBe('idle');
  });

  it('have a cursor on every page', () => {
    expectTypeOf<RecordedEvent['sequence']>().toEqualTypeOf<number>();
    expectTypeOf<ToldEvent['id']>().toEqualTypeOf<string>();
  });

  it('are those of all public records', () => {
    const shown: Readonly<Record<EventType, true>> = {
      session_created: true, session_ready: true, session_failed: true, session_metadata_changed: true, session_resumed: true,
      session_end_requested: true, session_ending: true, session_ended: true, session_delete_requested: true, message_queued: true,
      message_withdrawn: true, message_failed: true, turn_started: true, turn_cancel_requested: true, turn_ended: true, turn_failed: true,
      activation_started: true, activation_ended: true, activation_failed: true, model_call_started: true, model_call_ended: true,
      model_call_failed: true, tool_call_started: true, tool_call_ended: true, environment_setup_started: true,
      environment_setup_ended: true, environment_setup_failed: true, environment_detach_started: true, environment_detach_ended: true,
      environment_detach_failed: true, environment_teardown_started: true, environment_teardown_ended: true, environment_teardown_failed: true,
    };
    const isPublic = Object.entries(RECORD_VISIBILITY).flatMap(([type, visibility]) => (visibility === 'public' && type !== 'extension_emitted' ? [type] : []));

    expect(Object.keys(shown).toSorted()).toEqual(isPublic.toSorted());
  });
});
