#!/usr/bin/env node
/** `npx brain COMMAND`: what is done with a data directory beside a server, or without one. */
import { INSPECT_USAGE, runInspectCommand } from './inspect.ts';
import { JOURNAL_USAGE, runJournalCommand } from './journal.ts';

const USAGE = `${JOURNAL_USAGE}\n\n${INSPECT_USAGE}\n`;

// As sysexits.h has it.
const EXIT_USAGE = 64;

async function run(command: string | undefined, rest: readonly string[]): Promise<number> {
  switch (command) {
    case 'journal':
      return runJournalCommand(rest, process);
    case 'inspect':
      return runInspectCommand(rest, process);
    case '--help':
      process.stdout.write(USAGE);
      return 0;
    default:
      process.stderr.write(USAGE);
      return EXIT_USAGE;
  }
}

process.exitCode = await run(process.argv[2], process.argv.slice(3));
