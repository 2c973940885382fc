import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { describeStore } from './store-suite.ts';

describeStore('sqlite', { open: ({ path, clock, random }) => openSqliteStore({ path, clock, random }) });
