/**
 * Clients of an event stream that nobody here wrote: a library, a browser, and a program in a shell loop. Each goes on by
 * itself after its server died, from the last event that it was shown.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { EventSource } from 'eventsource';
import type { Browser } from 'playwright-core';

export interface EventClient {
  readonly name: string;
  /** The data of each event that has an id, in the order in which they came. */
  seen(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export type Follow = (url: string, types: readonly string[]) => Promise<EventClient>;

/** The package `eventsource`. */
export const withLibrary: Follow = (url, types) => {
  const seen: string[] = [];
  const source = new EventSource(url);
  for (const type of types) source.addEventListener(type, ({ data }) => void seen.push(data as string));
  return Promise.resolve({
    name: 'the library',
    seen: () => Promise.resolve(seen),
    close: () => {
      source.close();
      return Promise.resolve();
    },
  });
};

/** A browser's own `EventSource`, in a page of the server's. */
export function inBrowser(browser: Browser): Follow {
  return async (url, types) => {
    const page = await browser.newPage();
    await page.goto(new URL('/inspector', url).href);
    // As text: the function runs in the page, whose names this program does not have.
    await page.evaluate(`{
      window.seen = [];
      const source = new EventSource(${JSON.stringify(url)});
      for (const type of ${JSON.stringify(types)}) source.addEventListener(type, ({ data }) => window.seen.push(data));
    }`);
    return {
      name: 'the browser',
      seen: () => page.evaluate<string[]>('window.seen'),
      close: () => page.close(),
    };
  };
}

// curl does not reconnect: whoever uses it starts it again, with the id of the last event that they have whole.
const CURL_LOOP = `
last=0
while true; do
  while IFS= read -r line; do
    case "$line" in
      id:*) id=\${line#id: } ;;
      data:*) data=\${line#data: } ;;
      '') if [ -n "$id" ]; then printf '%s\\n' "$data"; last=$id; fi; id= ;;
    esac
  done < <(curl -sN "$1" -H 'Accept: text/event-stream' -H "Last-Event-ID: $last")
  id=
  sleep 0.2
done`;

/** `curl -N`, started again whenever it ends. */
export const withCurl: Follow = (url) => {
  const child: ChildProcess = spawn('bash', ['-c', CURL_LOOP, 'bash', url], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  return Promise.resolve({
    name: 'curl',
    seen: () => Promise.resolve(output.split('\n').slice(0, -1)),
    // The loop and the curl in it are one group.
    close: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.pid !== undefined) process.kill(-child.pid);
      await ended;
    },
  });
};
