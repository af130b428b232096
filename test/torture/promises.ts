/** Holds a session's journal to what its clients were told: each acknowledged thing is there, each key executed at most once. */
import type { JournalRecord } from '../support/brain-api.ts';
import type { SendEntry, SessionEntry } from './ledger.ts';
import { planIn } from './message-plan.ts';

interface Turn {
  readonly messageSequence: number;
  readonly start: JournalRecord | undefined;
  readonly end: JournalRecord | undefined;
  readonly cancel: JournalRecord | undefined;
}

export function faultsOfPromises(session: SessionEntry, records: readonly JournalRecord[]): readonly string[] {
  const tokens = messageSequences(records);
  return [
    ...repeatedKeys(records),
    ...[...tokens.keys()].filter((token) => !session.sends.has(token)).map((token) => `nobody sent ${token}`),
    ...[...session.sends.values()].flatMap((entry) => faultsOfSend(entry, tokens.get(entry.plan.token) ?? [], records)),
    ...faultsOfCancels(session, turnsOf(records)),
    ...faultsOfResumes(session, records),
    ...faultsOfEnd(session, records),
  ];
}

/** Where each message is queued, by its token. */
export function messageSequences(records: readonly JournalRecord[]): ReadonlyMap<string, readonly number[]> {
  const sequences = new Map<string, number[]>();
  for (const { type, sequence, data } of records) {
    if (type !== 'message_queued') continue;
    const { input } = data;
    const plan = planIn(typeof input === 'string' ? input : JSON.stringify(input).replaceAll('\\"', '"'));
    if (plan === null) continue;
    sequences.set(plan.token, [...(sequences.get(plan.token) ?? []), sequence]);
  }
  return sequences;
}

function repeatedKeys(records: readonly JournalRecord[]): readonly string[] {
  const keys = records.flatMap((record) => {
    const { request } = record as JournalRecord & { readonly request?: { readonly key: string; readonly route: string } };
    return request === undefined ? [] : [`${request.route} ${request.key}`];
  });
  return keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `the key of ${key} was executed twice`);
}

function faultsOfSend(entry: SendEntry, queued: readonly number[], records: readonly JournalRecord[]): readonly string[] {
  const { accepted, isSettled, wasUncertain, plan } = entry;
  if (queued.length > 1) return [`${plan.token} was queued ${queued.length} times`];
  const [messageSequence] = queued;
  if (accepted === null) {
    return isSettled && !wasUncertain && messageSequence !== undefined ? [`${plan.token} was refused, and queued as ${messageSequence}`] : [];
  }
  const start = records[accepted.sequence - 1];
  if (messageSequence === undefined || start?.type !== 'turn_started' || start.data['message_sequence'] !== messageSequence) {
    return [`${plan.token} was accepted with ${JSON.stringify(accepted)}, where the journal has ${JSON.stringify(start)}`];
  }
  if (accepted.last_sequence === undefined) return [];
  const end = records[accepted.last_sequence - 1];
  const isTold = end?.type === (accepted.outcome === 'ended' ? 'turn_ended' : 'turn_failed');
  // A turn that an end was asked for closes with that end.
  const isClosed = end?.type === 'session_ending' || isTold;
  return isClosed ? [] : [`${plan.token} was answered ${JSON.stringify(accepted)}, where the journal has ${JSON.stringify(end)}`];
}

function turnsOf(records: readonly JournalRecord[]): readonly Turn[] {
  return [...messageSequences(records).values()].flat().map((messageSequence) => {
    const find = (...types: readonly string[]): JournalRecord | undefined =>
      records.find(({ type, data }) => types.includes(type) && data['message_sequence'] === messageSequence);
    return { messageSequence, start: find('turn_started'), end: find('turn_ended', 'turn_failed'), cancel: find('turn_cancel_requested') };
  });
}

function faultsOfCancels({ cancels }: SessionEntry, turns: readonly Turn[]): readonly string[] {
  return turns.flatMap(({ messageSequence, start, end, cancel }) => {
    if (cancel !== undefined && end?.data['code'] !== 'cancelled') return [`the turn of ${messageSequence} was cancelled and ended with ${JSON.stringify(end)}`];
    if (start === undefined || end === undefined || cancel !== undefined) return [];
    const missed = cancels.find(({ sentAtMs, acknowledgedAtMs }) => start.recorded_at < sentAtMs && acknowledgedAtMs < end.recorded_at);
    return missed === undefined ? [] : [`a cancel was acknowledged at ${missed.acknowledgedAtMs}, while the turn of ${messageSequence} ran, and is not there`];
  });
}

function faultsOfResumes({ resumes }: SessionEntry, records: readonly JournalRecord[]): readonly string[] {
  return records.flatMap(({ state, sequence, recorded_at }, index) => {
    if (state !== 'interrupted' && state !== 'failed') return [];
    const heldUntilMs = records[index + 1]?.recorded_at ?? Infinity;
    const missed = resumes.find(({ sentAtMs, acknowledgedAtMs }) => recorded_at < sentAtMs && acknowledgedAtMs < heldUntilMs);
    return missed === undefined ? [] : [`a resume was acknowledged at ${missed.acknowledgedAtMs}, and the session held on after record ${sequence}`];
  });
}

function faultsOfEnd({ isEndAcknowledged }: SessionEntry, records: readonly JournalRecord[]): readonly string[] {
  const count = records.filter(({ type }) => type === 'session_ended').length;
  return isEndAcknowledged && count !== 1 ? [`its end was acknowledged, and is there ${count} times`] : [];
}
