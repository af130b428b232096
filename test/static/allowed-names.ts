/**
 * The files that may use what is banned elsewhere. A file that is here is a port to the world, or starts the program;
 * whatever else needs the world is given a port.
 */

export interface Allowance {
  /** A file, or a folder with a slash at its end. */
  readonly path: string;
  readonly rules: readonly string[];
  readonly reason: string;
}

export const ALLOWANCES: readonly Allowance[] = [
  {
    path: 'services/system.ts',
    rules: ['Date', 'performance', 'node:perf_hooks', 'setTimeout', 'process', 'crypto.randomBytes'],
    reason: 'The real clock and the real chance.',
  },
  {
    path: 'services/telemetry-file.ts',
    rules: ['node:fs'],
    reason: 'The real sink of telemetry: a file that only grows, and that nothing waits for.',
  },
  {
    path: 'services/loops/pi-library.ts',
    rules: ['dynamic import'],
    reason: 'The loop is loaded on its first use: a server without it starts without its weight.',
  },
  {
    path: 'services/models/provider-connections.ts',
    rules: ['node:http', 'setTimeout', 'dynamic import'],
    reason: 'The network to models. What https needs is loaded on its first use: a start needs no certificates.',
  },
  {
    path: 'services/models/kept-connections.ts',
    rules: ['performance', 'setTimeout'],
    reason: 'How long a connection was not used is a matter of the network, in whose time its server counts too.',
  },
  {
    path: 'services/environments/http-transport.ts',
    rules: ['dynamic import'],
    reason: 'The network to environments is loaded on its first use: most servers reach none.',
  },
  {
    path: 'services/tools/tool-inputs.ts',
    rules: ['module-level mutable collection', 'module-level variable'],
    reason: 'What schemas compile to, which depends on the schemas alone; and the call that a bound of time is put on.',
  },
  {
    path: 'storage/node-disk.ts',
    rules: ['node:fs', 'process', 'fs-native-extensions'],
    reason: 'The real disk, which is not the same on every platform, and the kernel\'s lock on it.',
  },
  {
    path: 'http/server.ts',
    rules: ['node:http'],
    reason: 'The real sockets.',
  },
  {
    path: 'http/inspector/data/clock.ts',
    rules: ['Date', 'setTimeout', 'setInterval'],
    reason: 'The clock of the browser.',
  },
  {
    path: 'http/inspector/data/server.ts',
    rules: ['fetch', 'crypto.getRandomValues'],
    reason: 'The network of the browser, and the chance that keys of requests are made of.',
  },
  {
    path: 'client/system.ts',
    rules: ['console', 'Date', 'fetch', 'setTimeout', 'Math.random', 'crypto.getRandomValues', 'globalThis'],
    reason: 'The real network, clock and chance of a client, in Node and in browsers.',
  },
  {
    path: 'cli/serve.ts',
    rules: ['process'],
    reason: 'A program of its own: its arguments, its environment, its signals and its exit code.',
  },
  {
    path: 'cli/server.ts',
    rules: ['dynamic import'],
    reason: 'Puts the server together, with the operator\'s tools file.',
  },
  {
    path: 'cli/providers.ts',
    rules: ['node:fs/promises'],
    reason: 'Reads the operator\'s providers file, which names variables of the environment.',
  },
  {
    path: 'cli/token.ts',
    rules: ['process'],
    reason: 'A program of its own: its arguments, its output and its exit code.',
  },
  {
    path: 'cli/brain.ts',
    rules: ['process'],
    reason: 'A program of its own: its arguments, its output and its exit code.',
  },
  {
    path: 'cli/charts.ts',
    rules: ['node:fs'],
    reason: 'Writes a document of this repository.',
  },
  {
    path: 'cli/demo.ts',
    rules: ['node:fs/promises', 'node:os', 'process', 'performance'],
    reason: 'A program of its own: its terminal, its temporary directory, and the seconds that it takes.',
  },
  {
    path: 'cli/demo/demo-server.ts',
    rules: ['node:child_process', 'process'],
    reason: 'Starts the server that is to be killed.',
  },
  {
    path: 'cli/demo/demo-client.ts',
    rules: ['fetch'],
    reason: 'A client, whose world is the server.',
  },
  {
    path: 'cli/chat.ts',
    rules: ['process', 'Date', 'module-level variable'],
    reason: 'A program of its own: its terminal, its clock, and when it was last interrupted.',
  },
  {
    path: 'cli/chat/',
    rules: ['setTimeout', 'Date'],
    reason: 'Reads lines, waits before it tries again, and has a tool that waits.',
  },
  {
    path: 'bench/fold.ts',
    rules: ['module-level mutable collection'],
    reason: 'A program of its own: what it measures.',
  },
  {
    path: 'bench/',
    rules: ['node:child_process', 'node:fs', 'node:fs/promises', 'node:http', 'node:os', 'node:timers/promises', 'setTimeout', 'process', 'performance', 'fetch', 'globalThis', 'undici'],
    reason: 'A program of its own, that measures the real world from outside.',
  },
];
