import type { Instant } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Connection } from './connection.ts';
import type { OwnerLock } from './owner-lock.ts';

interface InstallationRow {
  readonly id: string;
  readonly incarnation: string;
  readonly life: string;
}

const SELECT = 'select id, incarnation, life from installation';

const INSERT = `
  insert into installation (one, id, incarnation, life, created_at)
  values (1, ?1, ?2, ?3, ?4)`;

const UPDATE = `
  update installation
  set incarnation = ?1, life = ?2`;

/**
 * The identity of the data. Each opening is a life with a name, written into the database and into the lock file beside it.
 * When the two do not tell the same, this is not the file that was here last but a copy or a backup: a new incarnation,
 * so that no reader takes its log for the one he read before.
 */
export function beginLife(
  writer: Connection,
  lock: OwnerLock,
  sources: { readonly random: Random; readonly now: Instant },
): { readonly id: string; readonly incarnation: string } {
  const name = (bytes: number): string => Buffer.from(sources.random.bytes(bytes)).toString('hex');
  const life = name(16);
  const known = writer.one<InstallationRow>(SELECT);
  const id = known?.id ?? name(16);
  const isSame = known !== undefined && known.life === lock.readLife();
  const incarnation = isSame ? known.incarnation : name(8);
  if (known === undefined) writer.run(INSERT, id, incarnation, life, sources.now);
  else writer.run(UPDATE, incarnation, life);
  lock.writeLife(life);
  return { id, incarnation };
}
