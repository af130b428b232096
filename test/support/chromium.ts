/** Whether tests in a browser run. */
import { findChromium } from '../../bench/chromium.ts';
import { skipWithout } from './packages.ts';
import { runsSlowTests } from './slow-tests.ts';

/** What a browser shows does not depend on the server's Node: its tests are of those that take long. */
export async function hasChromium(): Promise<boolean> {
  if (!runsSlowTests) return false;
  try {
    await findChromium();
    return true;
  } catch (error) {
    return skipWithout('chromium', error);
  }
}
