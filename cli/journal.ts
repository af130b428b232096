/** `brain journal COMMAND PATH`: looks at journals without a server, and without touching them. */
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { isErrorCode } from '../storage/disk-failure.ts';
import { NodeDisk } from '../storage/node-disk.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import { JOURNAL_COMMANDS, type JournalCommand } from './journal/commands.ts';
import { LocateError, locateSessions } from './journal/locate.ts';
import { Verdict } from './journal/verdict.ts';

export const JOURNAL_USAGE = `brain journal print PATH     every record of one session, one JSON line each
brain journal verify PATH    the verdict of each segment
brain journal stat PATH      records and bytes by type
PATH is a data directory, the directory of a session, also of a copied one, or its journal. Nothing is written there.
Exit code: 0 clean, 1 torn (an incomplete final write, which a server would cut off), 2 damaged, 64 for a wrong command.`;

/** Resolves with the exit code. */
export async function runJournalCommand(argv: readonly string[], { stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>): Promise<number> {
  const [name = '', path, ...rest] = argv;
  const command = commandNamed(name);
  if (command === null || path === undefined || rest.length > 0) {
    stderr.write(`${JOURNAL_USAGE}\n`);
    return EXIT_USAGE;
  }
  const disk = new NodeDisk();
  const verdict = new Verdict();
  const warn = (line: string): void => void stderr.write(`${line}\n`);
  try {
    const sessions = await locateSessions(disk, path);
    const lines = command({ disk, sessions, verdict, warn });
    await pipeline(Readable.from(withLineEnds(lines)), stdout, { end: false });
  } catch (error) {
    // Whoever reads the lines has seen enough of them.
    if (isErrorCode(error, 'EPIPE')) return verdict.exitCode;
    if (!(error instanceof LocateError)) throw error;
    warn(error.message);
    return EXIT_USAGE;
  }
  return verdict.exitCode;
}

function commandNamed(name: string): JournalCommand | null {
  return Object.entries(JOURNAL_COMMANDS).find(([known]) => known === name)?.[1] ?? null;
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  for await (const line of lines) yield `${line}\n`;
}
