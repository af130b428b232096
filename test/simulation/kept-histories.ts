/** Histories that once found a fault in the project, as their choices. A change of `steps.ts` makes other histories of them. */
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
      [230, 0],
      [0, 0],
      [878, 7],
      [230, 1010143086],
      [779, 1073741815],
      [0, 2],
      [383, 309535886],
      [880, 1073741809],
      [992, 14189158],
      [625, 2],
      [997, 827733323],
      [279, 19],
      [998, 17],
      [548, 1044913737],
      [1, 167887710],
      [7, 5],
      [171, 16],
      [996, 28],
      [999, 24],
    ],
  },
  {
    found: 'a delete that could not keep its create’s answer left the session held, so that nobody could open it again',
    fault: 'stay-held-after-a-failed-delete',
    choices: [
      [258, 253780056],
      [0, 0],
      [232, 413367890],
      [877, 218631109],
      [0, 0],
      [324, 751788992],
      [0, 0],
    ],
  },
];
