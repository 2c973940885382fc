import pg from 'pg';
import { expect, test } from 'vitest';
import { databaseUrl } from '../support/database-url.ts';

test('the tests run on PostgreSQL 18', async () => {
  const client = new pg.Client({ connectionString: databaseUrl() });
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    expect(rows[0]?.server_version).toMatch(/^18\./);
  } finally {
    await client.end();
  }
});
