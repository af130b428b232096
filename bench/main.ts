/**
 * `npm run bench`: measures the built server from outside, and says how it stands to what is asked of it. A minute and a
 * half; with `--long` five minutes, and everything.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench, Group } from './bench.ts';
import { Client } from './client.ts';
import { Findings } from './findings.ts';
import { measureFollowers } from './followers.ts';
import { measureInspector } from './inspector.ts';
import { measureJournalBytes } from './journal-bytes.ts';
import { measureLongSessions } from './long-sessions.ts';
import { describeMachine } from './machine.ts';
import { measureMemory } from './memory.ts';
import { measureMessages } from './messages.ts';
import { Program } from './program.ts';
import { reportOf, textOf } from './report.ts';
import { measureStarts } from './starts.ts';
import { measureTurns } from './turns.ts';
import { Yardsticks } from './yardsticks.ts';

const GROUPS: Readonly<Record<string, Group>> = {
  turns: measureTurns,
  messages: measureMessages,
  followers: measureFollowers,
  'long-sessions': measureLongSessions,
  memory: measureMemory,
  starts: measureStarts,
  'journal-bytes': measureJournalBytes,
  inspector: measureInspector,
};

const USAGE = `npm run bench -- [--long] [--json FILE] [--only GROUP,…] [--directory DIRECTORY] [--profile DIRECTORY]
  --json       writes the figures there, too
  --only       of ${Object.keys(GROUPS).join(', ')}
  --directory  on the disk that is to be measured; default: the one that this project is on
  --profile    where the server of the turns leaves a profile of its processor time, which slows it down
`;

interface Asked {
  readonly isLong: boolean;
  readonly jsonFile: string | undefined;
  readonly groups: readonly string[];
  readonly parent: string;
  readonly profileDirectory: string | null;
}

/** Null where it is not what the usage says. */
function askedOf(argv: readonly string[]): Asked | null {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({ args: [...argv], options: { long: { type: 'boolean' }, json: text, only: text, directory: text, profile: text } });
    const groups = values.only?.split(',') ?? Object.keys(GROUPS);
    if (!groups.every((name) => Object.hasOwn(GROUPS, name))) return null;
    return {
      isLong: values.long === true,
      jsonFile: values.json,
      groups,
      parent: path.resolve(values.directory ?? path.join(import.meta.dirname, '../..')),
      profileDirectory: values.profile ?? null,
    };
  } catch {
    return null;
  }
}

async function run({ isLong, jsonFile, groups, parent, profileDirectory }: Asked): Promise<void> {
  const machine = await describeMachine(parent);
  if (machine.filesystem === 'tmpfs') throw new Error('the directory lies in memory: name one on a disk with --directory');
  const directory = await mkdtemp(path.join(parent, '.bench-'));
  const findings = new Findings();
  const model = await Program.start({ file: 'bench/scripted-model.js' });
  const modelClient = new Client(model.url);
  try {
    const yardsticks = await Yardsticks.start(directory, findings);
    const bench: Bench = {
      findings,
      yardsticks,
      model: { client: modelClient, processorSeconds: () => model.processorSeconds() },
      directory,
      isLong,
      cores: machine.cores,
      profileDirectory,
    };
    await yardsticks.warmUp();
    await yardsticks.look();
    for (const name of groups) {
      process.stderr.write(`${name} …\n`);
      await GROUPS[name]?.(bench);
      await yardsticks.look();
    }
    await yardsticks.stop();
    const report = reportOf(findings, { machine, form: isLong ? 'long' : 'short' });
    process.stdout.write(textOf(report));
    if (jsonFile !== undefined) await writeFile(jsonFile, `${JSON.stringify(report, null, 2)}\n`);
  } finally {
    await modelClient.close();
    await model.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

const asked = askedOf(process.argv.slice(2));
if (asked === null) {
  process.stderr.write(USAGE);
  process.exitCode = 64;
} else {
  await run(asked);
}
