import { defineConfig } from 'vitest/config';

/** Tests that start PostgreSQL or other processes. Everything else is fast and runs on every supported Node. */
const fullTests = [
  'test/postgres/**/*.test.ts',
  'test/conformance/postgres.test.ts',
  'test/crash/**/*.test.ts',
  'test/e2e/**/*.test.ts',
];

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    setupFiles: ['test/support/property-seed.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['src/**/*.test.ts', 'agents/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: fullTests,
          testTimeout: 40_000,
          hookTimeout: 40_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'full',
          include: fullTests,
          globalSetup: ['test/support/postgres-setup.ts'],
          testTimeout: 90_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
