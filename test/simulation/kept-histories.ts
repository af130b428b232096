/**
 * Histories that once found a fault in the project, as their choices. A change of
 * what a step's number means makes other histories of them; a change of how often steps are drawn does not.
 */
import type { Choice } from './choices.ts';

export interface KeptHistory {
  /** The fault that it found. */
  readonly found: string;
  /** The mutation that brings the fault back. */
  readonly fault: string;
  readonly choices: readonly Choice[];
}

export const KEPT: readonly KeptHistory[] = [
  {
    found: 'a command that came while the registry closed opened its session again for ever',
    fault: 'open-again-while-closing',
    choices: [
      ['create', 0],
      ['settle', 0],
      ['drain', 0],
      ['follow', 0],
    ],
  },
  {
    found: 'a delete that could not keep its create’s answer left the session held, so that nobody could open it again',
    fault: 'stay-held-after-a-failed-delete',
    choices: [
      ['create', 216],
      ['settle', 0],
      ['ask', 56],
      ['settle', 0],
      ['ask', 8],
      ['go on', 1],
      ['fail', 4],
      ['settle', 0],
    ],
  },
];
