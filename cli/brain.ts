#!/usr/bin/env node
/** `npx brain COMMAND`: what is done with a data directory beside a server, or without one. */
import { INSPECT_USAGE, runInspectCommand } from './inspect.ts';
import { JOURNAL_USAGE, runJournalCommand } from './journal.ts';

// As sysexits.h has it.
const EXIT_USAGE = 64;

const [command, ...rest] = process.argv.slice(2);
switch (command) {
  case 'journal':
    process.exitCode = await runJournalCommand(rest, process);
    break;
  case 'inspect':
    process.exitCode = await runInspectCommand(rest, process);
    break;
  case '--help':
    process.stdout.write(`${JOURNAL_USAGE}\n\n${INSPECT_USAGE}\n`);
    break;
  default:
    process.stderr.write(`${JOURNAL_USAGE}\n\n${INSPECT_USAGE}\n`);
    process.exitCode = EXIT_USAGE;
}
