/**
 * `brain start`: options to a running server, and a signal to a clean end. The only reader of the process's environment.
 *
 * Standard output says where it listens and how to begin; the log is on standard error. The exit code is 0 after a
 * SIGTERM or SIGINT, and 1, with one line, where the server could not start.
 */
import { traceOf } from '../http/errors.ts';
import type { Log } from '../services/ports.ts';
import { ProvidersFileError } from '../services/models/providers-file.ts';
import { systemClock } from '../services/system.ts';
import { ToolsFileError } from '../services/tools/tools-file.ts';
import { StorageError } from '../storage/journal.ts';
import { firstSteps } from './first-steps.ts';
import type { Options } from './option-table.ts';
import { parseOptions } from './options.ts';
import type { Environment } from './providers.ts';
import { runServer, StartError } from './server.ts';

// A terminal's Ctrl-C arrives twice, from the terminal and from npm: only one that comes later means it.
const SECOND_SIGNAL_MS = 1_000;

async function start(options: Options, environment: Environment): Promise<void> {
  const server = await runServer(options, environment, tellStrayErrors);
  const { url, log } = server;
  process.stdout.write(`brain listens on ${url}\n${firstSteps(url, { needsToken: options.apiKey !== undefined })}`);

  let firstSignalAt: number | null = null;
  const stop = (signal: NodeJS.Signals): void => {
    const now = systemClock.monotonic();
    if (firstSignalAt === null) {
      firstSignalAt = now;
      const hint = 'waits for running turns; a second signal, a second or more from now, stops at once';
      log.info('stopping', { signal, running_turns: server.runningTurns, hint });
      void server.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error('stop_failed', { error: String(error) });
          process.exit(1);
        },
      );
    } else if (now - firstSignalAt >= SECOND_SIGNAL_MS) {
      log.warn('stopped_at_once', { signal });
      process.exit(0);
    }
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/**
 * What a tool or a loop throws where nobody listens reaches nobody but the process. A rejection leaves everything as it
 * was; after an exception nobody can say that, and the next start recovers what this one ends in.
 */
function tellStrayErrors(log: Log): void {
  process.on('unhandledRejection', (error) => log.error('stray_rejection', { error: traceOf(error) }));
  process.on('uncaughtException', (error) => {
    log.error('stray_exception', { error: traceOf(error) });
    process.exit(1);
  });
}

const parsed = parseOptions(process.argv.slice(2), process.env);
if (!parsed.ok) {
  (parsed.exitCode === 0 ? process.stdout : process.stderr).write(`${parsed.message}\n`);
  process.exit(parsed.exitCode);
}
for (const warning of parsed.warnings) process.stderr.write(`${warning}\n`);
try {
  await start(parsed.options, process.env);
} catch (error) {
  const isOurs =
    error instanceof StartError ||
    error instanceof StorageError ||
    error instanceof ToolsFileError ||
    error instanceof ProvidersFileError;
  process.stderr.write(`brain cannot start: ${isOurs ? error.message : String(error)}\n`);
  process.exit(1);
}
