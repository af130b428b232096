/** A real browser, where this machine has one: Debian's package `chromium`. */
import { access, constants } from 'node:fs/promises';
import { chromium, type Browser } from 'playwright-core';
import { skipWithout } from './packages.ts';
import { runsSlowTests } from './slow-tests.ts';

const PROGRAM = '/usr/bin/chromium';

/** What a browser shows does not depend on the server's Node: its tests are of those that take long. */
export async function hasChromium(): Promise<boolean> {
  if (!runsSlowTests) return false;
  try {
    await access(PROGRAM, constants.X_OK);
    return true;
  } catch (error) {
    return skipWithout('chromium', error);
  }
}

/** It runs as whoever runs the tests, who in a container is root: without its own sandbox. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
