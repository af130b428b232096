/** What every journal has to obey, whatever happened to the server that wrote it. */
import type { JournalRecord } from './brain-api.ts';

const AT_REST = ['idle', 'suspended', 'interrupted', 'failed', 'unusable', 'ended'];
const MESSAGE_ENDS = ['turn_ended', 'turn_failed', 'message_failed', 'message_withdrawn'];

/** What is wrong with the history of a session at rest; nothing where all is well. */
export function faultsOf(records: readonly JournalRecord[]): readonly string[] {
  return [...disorder(records), ...unclosedEffects(records), ...lostMessages(records), ...overlappingTurns(records), ...unrest(records)];
}

function disorder(records: readonly JournalRecord[]): readonly string[] {
  return records.flatMap(({ sequence, recorded_at }, index) => [
    ...(sequence === index + 1 ? [] : [`record ${index + 1} has the sequence ${sequence}`]),
    ...(recorded_at >= (records[index - 1]?.recorded_at ?? 0) ? [] : [`record ${sequence} is older than the one before it`]),
  ]);
}

function unclosedEffects(records: readonly JournalRecord[]): readonly string[] {
  const starts = records.filter(({ type }) => type.endsWith('_started') && type !== 'turn_started');
  const ends = records.filter(({ data }) => 'started_sequence' in data);
  const endsOf = (sequence: number): number => ends.filter(({ data }) => data['started_sequence'] === sequence).length;
  const started = new Set<unknown>(starts.map(({ sequence }) => sequence));
  return [
    ...starts.filter(({ sequence }) => endsOf(sequence) !== 1).map(({ type, sequence }) => `${type} ${sequence} ended ${endsOf(sequence)} times`),
    ...ends.filter(({ data }) => !started.has(data['started_sequence'])).map(({ type, sequence }) => `${type} ${sequence} ends nothing`),
  ];
}

function lostMessages(records: readonly JournalRecord[]): readonly string[] {
  return records
    .filter(({ type }) => type === 'message_queued')
    .flatMap(({ sequence }) => {
      const ends = records.filter(({ type, data }) => MESSAGE_ENDS.includes(type) && data['message_sequence'] === sequence);
      return ends.length === 1 ? [] : [`message ${sequence} ended ${ends.length} times`];
    });
}

function overlappingTurns(records: readonly JournalRecord[]): readonly string[] {
  let open: number | null = null;
  return records.flatMap(({ type, sequence }) => {
    if (type === 'turn_ended' || type === 'turn_failed') open = null;
    if (type !== 'turn_started') return [];
    const fault = open === null ? [] : [`turn ${sequence} started while ${open} was open`];
    open = sequence;
    return fault;
  });
}

function unrest(records: readonly JournalRecord[]): readonly string[] {
  const state = records.at(-1)?.state ?? 'none';
  return AT_REST.includes(state) ? [] : [`the last record leads to ${state}`];
}
