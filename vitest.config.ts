import { defineConfig } from 'vitest/config';
import { variantPlugin } from './test/simulation/variant-plugin.ts';

const timeouts = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    // By itself the runner leaves one core idle, which on a machine with two is half of it.
    maxWorkers: '100%',
    projects: [
      {
        test: { ...timeouts, name: 'in-process', include: ['test/**/*.test.ts'], exclude: ['test/e2e/**', 'test/simulation/**', 'test/static/**'] },
      },
      // Reading all sources with the compiler takes a minute where others are at work.
      { test: { ...timeouts, name: 'static', include: ['test/static/*.test.ts'], testTimeout: 180_000 } },
      {
        plugins: [variantPlugin()],
        test: { ...timeouts, name: 'simulation', include: ['test/simulation/**/*.test.ts'], testTimeout: 180_000 },
      },
      // `npm run simulate` is no test of every day.
      ...(process.env['BRAIN_SIMULATE_SEED'] === undefined
        ? []
        : [{ plugins: [variantPlugin()], test: { name: 'simulate', include: ['test/simulation/long-run.ts'] } }]),
      // Nor is `npm run torture`. One at a time: what each of them measures is its own.
      ...(process.env['BRAIN_TORTURE_SEED'] === undefined
        ? []
        : [{ test: { name: 'torture', include: ['test/torture/*.long.ts'], globalSetup: ['test/support/build-once.ts'], fileParallelism: false } }]),
      {
        // These start the built server: it is built once, and only when one of them runs.
        test: {
          ...timeouts,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/build-once.ts'],
          testTimeout: 180_000,
        },
      },
    ],
  },
});
