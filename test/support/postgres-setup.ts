import type { TestProject } from 'vitest/node';
import type {} from './database-url.ts';
import { startPostgres } from './postgres.ts';

/** One server for the whole run. Tests keep apart by schema. HOLDFAST_TEST_POSTGRES names a server to use instead. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const url = process.env.HOLDFAST_TEST_POSTGRES;
  if (url !== undefined && url !== '') {
    project.provide('databaseUrl', url);
    return undefined;
  }
  const server = await startPostgres();
  project.provide('databaseUrl', server.url);
  return () => server.stop();
}
