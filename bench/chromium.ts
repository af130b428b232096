/** A real browser, where this machine has one: Debian's package `chromium`. */
import { access, constants } from 'node:fs/promises';
import { chromium, type Browser } from 'playwright-core';

const PROGRAM = '/usr/bin/chromium';

/** Rejects where there is none. */
export async function findChromium(): Promise<void> {
  await access(PROGRAM, constants.X_OK);
}

/** It runs as whoever runs it, who in a container is root: without its own sandbox. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
