import { defineConfig } from 'vitest/config';

const timeouts = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: { ...timeouts, name: 'in-process', include: ['test/**/*.test.ts'], exclude: ['test/e2e/**'] },
      },
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
