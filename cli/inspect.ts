/** `brain inspect DIRECTORY`: the inspector over a data directory, or a copied session, that no server runs. */
import path from 'node:path';
import { isLoopbackHost } from '../http/loopback.ts';
import { createLookApp } from '../http/server.ts';
import type { Log } from '../services/ports.ts';
import { SessionLook, type FoundSession } from '../services/session-look.ts';
import { systemClock, systemLog } from '../services/system.ts';
import type { Disk } from '../storage/disk.ts';
import { sessionNamedIn } from '../storage/judged-segments.ts';
import { NodeDisk } from '../storage/node-disk.ts';
import { builtPage } from './built-page.ts';
import { EXIT_UNAVAILABLE, EXIT_USAGE } from './exit-codes.ts';
import { urlOf } from './first-steps.ts';
import { LocateError, locateSessions } from './journal/locate.ts';
import { OPTIONS } from './option-table.ts';
import type { ListenAddress } from './option-values.ts';

export const INSPECT_USAGE = `brain inspect DIRECTORY [--listen HOST:PORT]
                             shows its sessions on a page, as they lie there, until it is interrupted
DIRECTORY is as PATH is. Nothing is written, locked or recovered there. HOST is a loopback address; default: 127.0.0.1:0, any free port.`;

// Who still reads an answer then has stopped reading.
const CLOSE_MS = 1_000;

type Console = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'once'>;

/** Resolves with the exit code, after SIGINT or SIGTERM. */
export async function runInspectCommand(argv: readonly string[], console: Console): Promise<number> {
  const { stdout, stderr } = console;
  const asked = parseArguments(argv);
  if (asked === null) {
    stderr.write(`${INSPECT_USAGE}\n`);
    return EXIT_USAGE;
  }
  const disk = new NodeDisk();
  try {
    await findSessions(disk, asked.directory);
  } catch (error) {
    if (!(error instanceof LocateError)) throw error;
    stderr.write(`${error.message}\n`);
    return EXIT_USAGE;
  }
  const page = builtPage(disk, path.resolve(import.meta.dirname, '../inspector'));
  const sessions = new SessionLook(disk, () => findSessions(disk, asked.directory));
  const app = createLookApp({ sessions, page, clock: systemClock, log: logOfLook(systemLog('warn')) });
  try {
    const at = await app.listen(asked.listen);
    stdout.write(`brain shows ${asked.directory}, read-only, on ${urlOf(at)}/inspector\n`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    stderr.write(`brain cannot listen there: ${reason}\n`);
    return EXIT_UNAVAILABLE;
  }
  await new Promise((resolve) => {
    console.once('SIGINT', resolve);
    console.once('SIGTERM', resolve);
  });
  await app.close({ withinMs: CLOSE_MS });
  return 0;
}

/** Damage is what a look is for, and the page tells it: only what is wrong with the look itself is left to say. */
function logOfLook(log: Log): Log {
  return { ...log, error: (event, facts) => (facts?.['code'] === 'journal_corrupt' ? undefined : log.error(event, facts)) };
}

/** Null where they are not what the usage says. */
function parseArguments(argv: readonly string[]): { readonly directory: string; readonly listen: ListenAddress } | null {
  const [directory, flag, address = '', ...rest] = argv.flatMap((argument) => /^(--listen)=(.*)$/.exec(argument)?.slice(1) ?? argument);
  if (directory === undefined || directory.startsWith('--') || rest.length > 0) return null;
  if (flag === undefined) return { directory, listen: { host: '127.0.0.1', port: 0 } };
  const listen = flag === '--listen' ? OPTIONS.listen.parse(address)?.value : undefined;
  return listen === undefined || !isLoopbackHost(listen.host) ? null : { directory, listen };
}

/** The sessions that are there now. Files are named as they are called below the directory. */
export async function findSessions(disk: Disk, directory: string): Promise<readonly FoundSession[]> {
  const root = path.resolve(directory);
  const located = await locateSessions(disk, directory);
  return Promise.all(
    located.map(async ({ sessionId, journal }) => {
      const id = sessionId ?? (await sessionNamedIn(disk, journal));
      if (id === null) throw new LocateError(`${directory} does not say whose it is: name the directory of the session by its id`);
      return { sessionId: id, journal, name: path.relative(root, journal) };
    }),
  );
}
