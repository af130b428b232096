/** What one look at a session's files comes to: how it stands, or where its damage begins. */
import { SessionState } from '../machines/replay.ts';
import type { Sequence, SessionCreated } from '../machines/records.ts';
import type { Disk } from '../storage/disk.ts';
import { unownedJournal } from '../storage/judged-segments.ts';
import { rowOf, type CatalogRow } from './catalog.ts';
import { explanationIn } from './explanations.ts';
import { readSegments, type SegmentsPlace } from './read-segments.ts';

export type SessionSight =
  | {
      readonly kind: 'whole';
      readonly lastSequence: Sequence;
      readonly row: CatalogRow;
      readonly created: SessionCreated;
      /** Null where there is nothing to explain. */
      readonly explanation: string | null;
    }
  | {
      readonly kind: 'damaged';
      /** Of the last commit before the damage; 0 where there is none. */
      readonly lastSequence: Sequence;
      readonly file: string;
      readonly offset: number;
      /** What is wrong there, and how far the journal can be read. */
      readonly what: string;
    };

export async function lookAt(disk: Disk, place: SegmentsPlace & { readonly sessionId: string }): Promise<SessionSight> {
  const state = SessionState.empty();
  let lastSequence = 0;
  let end = { file: place.name, offset: 0 };
  let torn: string | null = null;
  for await (const { name: file, bytes, judgement, records } of readSegments(disk, place, state)) {
    lastSequence = records.at(-1)?.sequence ?? lastSequence;
    switch (judgement.kind) {
      case 'clean':
        break;
      case 'torn':
        end = { file, offset: judgement.offset };
        torn = `The last ${bytes - judgement.offset} bytes of ${file}, from byte ${judgement.offset} on, are an incomplete write, which a server would cut off.`;
        break;
      case 'damaged': {
        const { offset, what } = judgement;
        return { kind: 'damaged', lastSequence, file, offset, what: `${what}; ${readable(lastSequence)}` };
      }
    }
  }
  if (lastSequence === 0) return { kind: 'damaged', lastSequence, ...end, what: 'it holds no whole record, and a server would know no such session' };
  const journal = unownedJournal(disk, { directory: place.journal, sessionId: place.sessionId, lastSequence });
  const { context, facts } = state;
  const why = await explanationIn(journal, { state: state.state, context, stop: facts.stop });
  const sentences = [why, torn].filter((sentence) => sentence !== null);
  return { kind: 'whole', lastSequence, row: rowOf(state), created: facts.created, explanation: sentences.length === 0 ? null : sentences.join(' ') };
}

function readable(lastSequence: Sequence): string {
  return lastSequence === 0 ? 'no record before that can be read' : `the records up to ${lastSequence} can be read`;
}
