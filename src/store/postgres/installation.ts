import type { SystemStore } from '../contract.ts';
import { sqlState } from './errors.ts';
import type { PostgresContext } from './postgres-context.ts';
import { nowOf } from './postgres-context.ts';

/**
 * `SystemStore.installation`. The row remembers the life in which it was last read: the cluster, its timeline, the database and the schema. A
 * backup that was restored and a replica that took over are another life of the same data, and get a new incarnation. Where one node may read
 * the cluster and another may not, both mean the same life, and the longer of its names is kept.
 */
export async function readInstallation(context: PostgresContext): ReturnType<SystemStore['installation']> {
  const { d, database } = context;
  const life = await readLife(context);
  const random = `replace(gen_random_uuid()::text, '-', '')`;
  const [, rows] = await database.write(
    [
      {
        text: `insert into ${d.table('installation')} as i (one, id, incarnation, life, created_at)
          values (1, gen_random_uuid()::text, ${random}, $1, ${d.moment(2)})
          on conflict (one) do update
          set incarnation = case when ${IS_LONGER} then i.incarnation else excluded.incarnation end, life = excluded.life
          where i.life <> excluded.life and not ${IS_SHORTER}`,
        values: [life, nowOf(context)],
      },
      {
        text: `select i.id, i.incarnation, (select max(version) from ${d.table('schema_migration')}) as schema_version
          from ${d.table('installation')} i`,
        values: [],
      },
    ],
    { repeatable: true },
  );
  const row = rows?.[0];
  return {
    id: row?.id as string,
    incarnation: row?.incarnation as string,
    schemaVersion: row?.schema_version as number,
  };
}

/** A life without its cluster is the end of the same one with it: numbers and slashes, so nothing in it is a wildcard. */
const IS_SHORTER = `i.life like '%/' || excluded.life`;
const IS_LONGER = `excluded.life like '%/' || i.life`;

const CLUSTER = `(select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)`;

/** Hosts that hide the cluster still show the database and the schema. */
async function readLife({ d, database }: PostgresContext): Promise<string> {
  const schema = d.table('installation');
  const place = `(select oid from pg_database where datname = current_database()) || '/' || ($1::regclass)::oid`;
  const read = async (life: string): Promise<string> => {
    const [rows] = await database.read([{ text: `select ${life} as life`, values: [schema] }]);
    return rows?.[0]?.life as string;
  };
  return read(`${CLUSTER} || '/' || ${place}`).catch((error: unknown) => {
    if (!isHidden(error)) throw error;
    return read(place);
  });
}

/** The right is missing, the function is, or the server does not do this; anything else may be otherwise the next time. */
const HIDDEN = new Set(['42501', '42883', '0A000']);

function isHidden(error: unknown): boolean {
  return error instanceof Error && HIDDEN.has(sqlState(error.cause) ?? '');
}
