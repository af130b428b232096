/** Compares what environments and hosts were given, and what the server took from them, with what the journals say. */
import type { JournalRecord } from '../support/brain-api.ts';
import type { FarTools, Taken } from './far-tools.ts';
import type { Ledger, SessionEntry } from './ledger.ts';

/** An operation is named by its start; a cancel by the record that ended what it cancels. */
const NAMED_BY = ['tool_call_started', 'tool_call_ended', 'environment_setup_started', 'environment_detach_started', 'environment_teardown_started'];
const DONE = ['environment_setup_ended', 'environment_detach_ended', 'environment_teardown_ended'];

/** `isLast`: every journal was just read. Before that, those that nobody asked anything of may be older. */
export function faultsOfOperations(ledger: Ledger, far: FarTools, isLast: boolean): readonly string[] {
  const sessions = new Map([...ledger.sessions.values()].map((session) => [session.id, session]));
  const asked = new Set<string>();
  const repeated = far.asked.filter((name) => asked.has(name) || !asked.add(name));
  const recordOf = (session: SessionEntry | undefined, sequence: number): JournalRecord | 'unread' | undefined => {
    // A session that was deleted took its last records with it, and one whose create was never answered is not looked at.
    const record = session?.records[sequence - 1];
    return record ?? (session === undefined || session.deletion !== 'none' || !isLast ? 'unread' : undefined);
  };
  const unrecorded = [...asked].filter((name) => {
    const [id = '', sequence] = name.split('/');
    const record = recordOf(sessions.get(id), Number(sequence));
    return record !== 'unread' && (record === undefined || !NAMED_BY.includes(record.type));
  });
  const unasked = [...sessions.values()].flatMap(({ id, records }) =>
    records.filter(({ type, data }) => DONE.includes(type) && !asked.has(`${id}/${String(data['started_sequence'])}`)).map(({ type, sequence }) => `${type} ${sequence} of ${id} ends what nobody was given`),
  );
  const missing = (taken: readonly Taken[], what: string, isIt: (record: JournalRecord, one: Taken) => boolean): readonly string[] =>
    taken.flatMap((one) => {
      const session = sessions.get(one.session_id);
      if (session === undefined || recordOf(session, one.sequence) === 'unread') return [];
      const count = session.records.filter((record) => isIt(record, one)).length;
      return count === 1 ? [] : [`${what} of ${one.session_id}/${one.sequence} was taken, and is recorded ${count} times`];
    });
  return [
    ...far.faults,
    ...repeated.map((name) => `the operation ${name} was given twice`),
    ...unrecorded.map((name) => `the operation ${name} is not recorded`),
    ...unasked,
    ...missing(far.results, 'the result', ({ type, data }, { sequence, value }) => type === 'tool_call_ended' && data['started_sequence'] === sequence && data['outcome'] === 'ok' && data['output'] === value),
    ...missing(far.events, 'the event', ({ type, data }, { value }) => type === 'extension_emitted' && data['data'] === value),
  ];
}
