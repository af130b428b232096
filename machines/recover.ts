/**
 * Recovery: from the snapshot of an interrupted journal to the one commit that closes it. Nothing is sent again: each
 * open effect ends `unknown`, an open turn fails, what was asked for is carried out. At rest it adds nothing, so running
 * it twice changes nothing.
 */
import type { SessionSnapshot } from './chart-step.ts';
import { closeOpenEffects, closeTurn, endSession } from './close-turn.ts';
import { Draft, type DecidedRecord } from './dry-run.ts';
import { assertNever } from './assert-never.ts';
import type { SessionState } from './replay.ts';

const INTERRUPTED = {
  code: 'interrupted_by_restart',
  message: 'the server stopped, or lost the disk, while this was under way; it is not run again',
} as const;

/** The records that close a session that nobody is working on any more. */
export function recover(snapshot: SessionSnapshot): readonly DecidedRecord[] {
  const draft = new Draft(snapshot);
  switch (draft.state) {
    case 'creating': {
      const endAsked = draft.context.end !== null;
      closeOpenEffects(draft, 'unknown');
      draft.add('session_failed', INTERRUPTED);
      if (endAsked) endSession(draft, { detaches: false });
      break;
    }
    case 'running.working':
    case 'running.cancelling':
      closeTurn(draft, { kind: 'failed', ...INTERRUPTED }, 'unknown');
      break;
    case 'ending':
      closeOpenEffects(draft, 'unknown');
      draft.add('session_ended', {});
      break;
    case 'ended':
    case 'unusable':
      closeOpenEffects(draft, 'unknown');
      break;
    case 'none':
    case 'idle':
    case 'suspended':
    case 'interrupted':
    case 'failed':
      break;
    default:
      return assertNever(draft.state);
  }
  return draft.records;
}

/**
 * Whether a delete was recorded and has nothing left to do but the removal. A session stays while something of an
 * environment is, or may be, there: it has to be torn down first, by another delete, and nothing tears down by itself.
 */
export function isRemovalDue({ isDeleteRequested, context }: SessionState): boolean {
  return isDeleteRequested && Object.values(context.environments).every(({ standing }) => standing === 'absent');
}
