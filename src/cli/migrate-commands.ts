import { formatInstant, instant } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import { migrateStore, readSchema, type SchemaAdmin } from '../server/schema-admin.ts';
import type { Flags } from './client-options.ts';
import type { Io } from './io.ts';
import { field } from './render-text.ts';
import { storeOf } from './serve-settings.ts';

/** `admin migrate status`. */
export async function migrateStatus(io: Io, flags: Flags): Promise<number> {
  const { status } = await readSchema(storeOf(io, flags), { clock: io.clock, logger: silentLogger });
  if (flags.output === 'json') io.out(`${JSON.stringify(status, null, 2)}\n`);
  else io.out(renderStatus(status));
  return 0;
}

/** `admin migrate plan`: the statements alone, so that they can be read or run elsewhere. */
export async function migratePlan(io: Io, flags: Flags): Promise<number> {
  const { plan } = await readSchema(storeOf(io, flags), { clock: io.clock, logger: silentLogger });
  if (flags.output === 'json') io.out(`${JSON.stringify({ statements: plan }, null, 2)}\n`);
  else io.out(plan.length === 0 ? '-- nothing to do\n' : plan.map((statement) => `${statement};\n`).join('\n'));
  return 0;
}

/** `admin migrate up`. */
export async function migrateUp(io: Io, flags: Flags): Promise<number> {
  const store = storeOf(io, flags);
  const before = await readSchema(store, { clock: io.clock, logger: silentLogger });
  const after = await migrateStore(store, { clock: io.clock, logger: silentLogger });
  if (flags.output === 'json') io.out(`${JSON.stringify(after.status, null, 2)}\n`);
  else io.out(`${renderApplied(before)}${renderStatus(after.status)}`);
  return 0;
}

function renderApplied({ status }: SchemaAdmin): string {
  if (status.pending.length === 0) return field('Applied', 'nothing, the schema was up to date');
  return status.pending.map(({ version, name }) => field('Applied', `${version} ${name}`)).join('');
}

function renderStatus(status: SchemaAdmin['status']): string {
  return [
    field('Schema', String(status.schemaVersion)),
    field('Needed', String(status.codeVersion)),
    ...status.applied.map(({ version, name, appliedAt }) =>
      field('Migration', `${version} ${name}, applied ${formatInstant(instant(appliedAt))}`),
    ),
    ...status.pending.map(({ version, name }) => field('Pending', `${version} ${name}`)),
  ].join('');
}
