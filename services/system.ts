/** The real clock, randomness and log: with `storage/node-disk.ts` and the network, the only places where the world is. */
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { pino } from 'pino';
import type { Clock, Log, Random } from './ports.ts';

// setTimeout takes 32 bits: a longer wait would fire at once.
const TIMEOUT_MS_MAX = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, action) {
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      const part = Math.min(left, TIMEOUT_MS_MAX);
      timer = setTimeout(() => {
        if (left > part) wait(left - part);
        else action();
      }, part);
    };
    wait(Math.max(0, ms));
    return () => {
      clearTimeout(timer);
    };
  },
  soon(action) {
    // A tick comes when no promise has anything left to do; where none is at work yet, the first one has to begin.
    queueMicrotask(() => process.nextTick(action));
  },
};

export const systemRandom: Random = { bytes: (count) => randomBytes(count) };

/** JSON lines on standard error, so that standard output stays what the commands print. */
export function systemLog(level: 'debug' | 'info' | 'warn' | 'error'): Log {
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }));
  return {
    debug: (event, facts) => {
      logger.debug(facts ?? {}, event);
    },
    info: (event, facts) => {
      logger.info(facts ?? {}, event);
    },
    warn: (event, facts) => {
      logger.warn(facts ?? {}, event);
    },
    error: (event, facts) => {
      logger.error(facts ?? {}, event);
    },
  };
}
