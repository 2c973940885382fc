import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { SystemStore } from '../../src/store/contract.ts';
import { openPostgresStore, type PostgresStoreOptions } from '../../src/store/postgres/postgres-store.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { StoreWorld } from '../conformance/builders.ts';
import { databaseUrl } from '../support/database-url.ts';

let worlds = 0;

/** One database with as many stores on it as a test opens, each as a process of its own would, all on the database's clock. */
export class PostgresWorld {
  readonly schema: string;
  /** Names the connections of this world's stores on the server, so that a test cuts its own and nobody else's. */
  readonly applicationName: string;
  readonly url: string;
  #stores = 0;

  constructor(url = databaseUrl()) {
    worlds += 1;
    this.schema = `postgres_${process.pid}_${worlds}`;
    this.applicationName = `test_${process.pid}_${worlds}`;
    this.url = `${url}?application_name=${this.applicationName}`;
  }

  async openStore(options: Partial<PostgresStoreOptions> = {}): Promise<SystemStore> {
    const store = await openPostgresStore({ url: this.url, schema: this.schema, ...options });
    onTestFinished(() => store.close());
    return store;
  }

  /** A store with short ways to make tasks; ids of two of them never meet. */
  async open(options: Partial<PostgresStoreOptions> = {}): Promise<StoreWorld> {
    this.#stores += 1;
    const name = `store${this.#stores}`;
    return new NamedWorld(await this.openStore(options), name);
  }

  /** A connection of the test itself. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client(databaseUrl());
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  }

  /** Ends every connection of this world's stores, whatever they are doing. Returns how many there were. */
  async cutConnections(admin: pg.Client): Promise<number> {
    const { rowCount } = await admin.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
      [this.applicationName],
    );
    return rowCount ?? 0;
  }

  /**
   * The server process that waits for a lock on behalf of this world's stores, as soon as there is one.
   * The observer may not be in a transaction: there it would see the same picture for ever.
   */
  async waitingProcess(observer: pg.Client): Promise<number> {
    for (;;) {
      const { rows } = await observer.query<{ pid: number }>(
        `select pid from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'`,
        [this.applicationName],
      );
      if (rows[0] !== undefined) return rows[0].pid;
    }
  }
}

class NamedWorld extends StoreWorld {
  readonly #name: string;

  constructor(store: SystemStore, name: string) {
    super(store, createFakeClock());
    this.#name = name;
  }

  override id<Id extends string>(stem: string): Id {
    return super.id<Id>(`${this.#name}-${stem}`);
  }
}
