/**
 * The files that may use what is banned elsewhere. A file that is here is a port to the world, or starts the program;
 * whatever else needs the world is given a port.
 */

export interface Allowance {
  /** A file, or a folder with a slash at its end. */
  readonly path: string;
  readonly rules: readonly string[];
  readonly reason: string;
}

export const ALLOWANCES: readonly Allowance[] = [
];
