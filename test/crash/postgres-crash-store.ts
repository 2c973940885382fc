import pg from 'pg';
import type { CrashStore } from './crash-point.ts';

let schemas = 0;

/** Each point has a schema of its own on a running server. */
export function postgresCrashStore(url: string): CrashStore {
  return {
    async prepare() {
      schemas += 1;
      const schema = `crash_${process.pid}_${schemas}`;
      return {
        env: { CRASH_STORE: url, CRASH_SCHEMA: schema },
        clean: async () => {
          const client = new pg.Client({ connectionString: url });
          await client.connect();
          await client.query(`drop schema if exists ${schema} cascade`);
          await client.end();
        },
      };
    },
  };
}
