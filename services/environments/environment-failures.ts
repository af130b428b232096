/** What a client hears of environments that could not be set up, or of which something may be left: which, and why. */
import type { RecordType, Sequence, SessionRecord } from '../../machines/records.ts';
import { ServiceError } from '../errors.ts';

// The whole of what an environment said stands in the session's records.
const REASON_CHARACTERS_MAX = 500;

type Ended = Extract<RecordType, 'environment_setup_failed' | 'environment_teardown_failed'>;

/** Of a creation that came to nothing, from the session's records. */
export async function setupFailure(sessionId: string, records: AsyncIterable<SessionRecord>): Promise<ServiceError> {
  const reasons = await reasonsIn(records, 'environment_setup_failed');
  const message = `not every environment could be set up: ${reasons}; the session stays, and can be deleted`;
  return new ServiceError('environment_failed', message, { details: { session_id: sessionId } });
}

/** Of a delete that leaves its session, from the records since it was asked for. */
export async function teardownFailure(sessionId: string, records: AsyncIterable<SessionRecord>): Promise<ServiceError> {
  const reasons = await reasonsIn(records, 'environment_teardown_failed');
  const message = `something of an environment may be left: ${reasons}; the session stays, and another delete tears down once more`;
  return new ServiceError('teardown_failed', message, { details: { session_id: sessionId } });
}

async function reasonsIn(records: AsyncIterable<SessionRecord>, ended: Ended): Promise<string> {
  const environments = new Map<Sequence, string>();
  const reasons: string[] = [];
  for await (const record of records) {
    if (record.type === 'environment_setup_started' || record.type === 'environment_teardown_started') {
      environments.set(record.sequence, record.data.environment);
    } else if (record.type === ended) {
      const { code, message, started_sequence } = record.data;
      reasons.push(`${environments.get(started_sequence) ?? ''}: ${inOneLine(message)} (${inOneLine(code)})`);
    }
  }
  return reasons.join('; ');
}

function inOneLine(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length <= REASON_CHARACTERS_MAX ? line : `${line.slice(0, REASON_CHARACTERS_MAX).toWellFormed()} …`;
}
