#!/usr/bin/env node
/** `npx brain COMMAND`: what is done with a data directory beside a server, or without one. */
import { JOURNAL_USAGE, runJournalCommand } from './journal.ts';

const command = process.argv[2];
if (command === 'journal') {
  process.exitCode = await runJournalCommand(process.argv.slice(3), process);
} else {
  (command === '--help' ? process.stdout : process.stderr).write(`${JOURNAL_USAGE}\n`);
  process.exitCode = command === '--help' ? 0 : 64;
}
