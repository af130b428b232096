/**
 * The moments in what follows from a call. A commit begins when no promise has anything left to do, which is a tick; what
 * comes of it takes steps of promises.
 */
const STEPS_OF_A_TICK = 20;

/** Lets so much pass that each number is another moment. */
export async function reach(moment: number): Promise<void> {
  for (let tick = 0; tick < Math.floor(moment / STEPS_OF_A_TICK); tick += 1) await new Promise<void>((resolve) => process.nextTick(resolve));
  for (let step = 0; step < moment % STEPS_OF_A_TICK; step += 1) await Promise.resolve();
}
