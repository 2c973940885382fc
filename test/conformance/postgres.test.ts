import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { databaseUrl } from '../support/database-url.ts';
import { describeStore } from './store-suite.ts';

describeStore('postgres', {
  open: (test) => openPostgresStore({ url: databaseUrl(), schema: test.uniqueName, clock: test.clock }),
});
