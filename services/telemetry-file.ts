/** The real telemetry sink: a file that grows by one line of JSON for each record. */
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import type { Log } from './ports.ts';
import type { TelemetrySink } from './telemetry.ts';

// What a disk that does not keep up may cost in memory before lines are dropped.
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

export interface TelemetryFile extends TelemetrySink {
  close(): Promise<void>;
}

/** Rejects where the file cannot be opened. Later failures are logged once, and end the writing. */
export async function openTelemetryFile(path: string, log: Log): Promise<TelemetryFile> {
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  await once(stream, 'open');
  let isFailed = false;
  let dropped = 0;
  stream.on('error', (error) => {
    isFailed = true;
    log.error('telemetry_failed', { error: String(error) });
  });
  return {
    write: (line) => {
      if (isFailed || stream.writableLength > WAITING_BYTES_MAX) dropped += 1;
      else stream.write(`${JSON.stringify(line)}\n`);
    },
    close: async () => {
      if (dropped > 0) log.warn('telemetry_dropped', { lines: dropped });
      if (isFailed) return;
      stream.end();
      await once(stream, 'close');
    },
  };
}
