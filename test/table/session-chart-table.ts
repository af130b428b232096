/**
 * What each chart state makes of each record type, written out by hand. The compiler counts rows and columns: a new
 * record type or state fails to compile here until somebody decides.
 *
 *   '·'     refused, whatever the circumstances and whatever the record says
 *   'stays' accepted in all circumstances, the state stays
 *   a state accepted in all circumstances, and leads there
 *   '?'     depends on circumstances: both sides stand in `guarded-cells.ts`
 */
import type { ChartState } from '../../machines/projections/status.ts';
import type { RecordType } from '../../machines/records.ts';

export type Cell = '·' | '?' | 'stays' | ChartState;

type Row = readonly [
  none: Cell,
  creating: Cell,
  idle: Cell,
  suspended: Cell,
  working: Cell,
  cancelling: Cell,
  interrupted: Cell,
  failed: Cell,
  unusable: Cell,
  ending: Cell,
  ended: Cell,
];

const COLUMNS: Readonly<Record<ChartState, number>> = {
  none: 0,
  creating: 1,
  idle: 2,
  suspended: 3,
  'running.working': 4,
  'running.cancelling': 5,
  interrupted: 6,
  failed: 7,
  unusable: 8,
  ending: 9,
  ended: 10,
};

const TABLE: Readonly<Record<RecordType, Row>> = {
  //                              none creating   idle        suspended   working  cancelling interrupted failed      unusable  ending   ended
  session_created:              ['?', '·',        '·',        '·',        '·',     '·',       '·',        '·',        '·',      '·',     '·'],
  session_ready:                ['·', '?',        '·',        '·',        '·',     '·',       '·',        '·',        '·',      '·',     '·'],
  session_failed:               ['·', '?',        '·',        '·',        '·',     '·',       '·',        '·',        '·',      '·',     '·'],
  session_metadata_changed:     ['·', 'stays',    'stays',    'stays',    'stays', 'stays',   'stays',    'stays',    'stays',  'stays', '·'],
  session_suspended:            ['·', '·',        '?',        '·',        '·',     '·',       '·',        '·',        '·',      '·',     '·'],
  session_resumed:              ['·', '·',        '·',        '·',        '·',     '·',       '?',        '?',        '·',      '·',     '·'],
  session_end_requested:        ['·', '?',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],
  session_ending:               ['·', '·',        '?',        '?',        '·',     '·',       'ending',   'ending',   'ending', '·',     '·'],
  session_ended:                ['·', '·',        '·',        '·',        '·',     '·',       '·',        '·',        '·',      '?',     '·'],
  session_delete_requested:     ['·', '·',        '·',        '·',        '·',     '·',       '·',        'unusable', '?',      '·',     '?'],

  message_queued:               ['·', '·',        '?',        '?',        '?',     '·',       '·',        '·',        '·',      '·',     '·'],
  message_withdrawn:            ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],
  message_failed:               ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],

  turn_started:                 ['·', '·',        '?',        '?',        '·',     '·',       '·',        '·',        '·',      '·',     '·'],
  turn_cancel_requested:        ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],
  turn_ended:                   ['·', '·',        '·',        '·',        '?',     '·',       '·',        '·',        '·',      '·',     '·'],
  turn_failed:                  ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],

  activation_started:           ['·', '·',        '·',        '·',        '?',     '·',       '·',        '·',        '·',      '·',     '·'],
  activation_ended:             ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],
  activation_failed:            ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],
  model_call_started:           ['·', '·',        '·',        '·',        '?',     '·',       '·',        '·',        '·',      '·',     '·'],
  model_call_ended:             ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],
  model_call_failed:            ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],
  tool_call_started:            ['·', '·',        '·',        '·',        '?',     '·',       '·',        '·',        '·',      '·',     '·'],
  tool_call_ended:              ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],

  environment_setup_started:    ['·', '?',        '·',        '·',        '·',     '·',       '·',        '·',        '·',      '·',     '·'],
  environment_setup_ended:      ['·', '?',        '·',        '·',        '·',     '·',       '·',        '·',        '·',      '·',     '·'],
  environment_setup_failed:     ['·', '?',        '·',        '·',        '·',     '·',       '·',        '·',        '·',      '·',     '·'],
  environment_detach_started:   ['·', '·',        '·',        '·',        '·',     '·',       '·',        '·',        '·',      '?',     '·'],
  environment_detach_ended:     ['·', '·',        '·',        '·',        '·',     '·',       '·',        '·',        '·',      '?',     '·'],
  environment_detach_failed:    ['·', '·',        '·',        '·',        '·',     '·',       '·',        '·',        '·',      '?',     '·'],
  environment_teardown_started: ['·', '·',        '·',        '·',        '·',     '·',       '·',        '·',        '?',      '·',     '?'],
  environment_teardown_ended:   ['·', '·',        '·',        '·',        '·',     '·',       '·',        '·',        '?',      '?',     '?'],
  environment_teardown_failed:  ['·', '·',        '·',        '·',        '·',     '·',       '·',        '·',        '?',      '?',     '?'],

  extension_emitted:            ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],
  transcript_delta:             ['·', '?',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],
  kv_put:                       ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],
  kv_deleted:                   ['·', '·',        '·',        '·',        '?',     '?',       '·',        '·',        '·',      '·',     '·'],
  request_answered:             ['·', 'stays',    'stays',    'stays',    'stays', 'stays',   'stays',    'stays',    'stays',  'stays', 'stays'],
};

export function cellOf(type: RecordType, state: ChartState): Cell {
  return TABLE[type][COLUMNS[state]] ?? '·';
}
