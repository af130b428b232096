/** The exit codes of commands beside 0, as sysexits.h has them: above the verdicts on journals, 1 and 2. */

export const EXIT_USAGE = 64;
export const EXIT_UNAVAILABLE = 69;
