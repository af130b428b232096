#!/usr/bin/env node
/** `npx brain COMMAND`: what is done with a data directory beside a server, or without one. */
import { EXIT_USAGE } from './exit-codes.ts';
import { INSPECT_USAGE, runInspectCommand } from './inspect.ts';
import { JOURNAL_USAGE, runJournalCommand } from './journal.ts';

const USAGE = `${JOURNAL_USAGE}\n\n${INSPECT_USAGE}\n`;

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
