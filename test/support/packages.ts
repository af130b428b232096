/** Programs that some tests need and that are not part of the project. */

/**
 * Says that a test is skipped since a program does not do here what it has to. With `BRAIN_TEST_PACKAGES=required`, which is
 * for machines that have them all, that is an error.
 */
export function skipWithout(program: string, error: unknown): false {
  if (process.env['BRAIN_TEST_PACKAGES'] === 'required') throw error;
  console.warn(`skipped: ${program} does not run here (${error instanceof Error ? error.message.trim() : String(error)})`);
  return false;
}
