import { createHash } from 'node:crypto';
import { assert, unreachable } from '../../base/assert.ts';
import type { Instant } from '../../base/clock.ts';
import type { MemoryWrite, NewMemory } from '../memory-contract.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { insertMemoryGrant } from '../sql/memory-reads.ts';
import type { Place } from '../sql/task-reads.ts';
import { withStems } from '../stem.ts';
import type { Connection } from './connection.ts';

/** All that follow in one transaction; throws, and so undoes them, at a grant of a memory that is not there. */
export function writeMemories(tx: Connection, place: Place, writes: readonly MemoryWrite[], now: Instant): void {
  for (const write of writes) {
    if (write.kind === 'remember') remember(tx, place, write.memory, now);
    else if (write.kind === 'forget') forget(tx, place, write.id);
    else if (write.kind === 'grant') {
      assert(findNo(tx, place, write.id) !== undefined, 'a memory that is granted is there');
      tx.write(insertMemoryGrant(sqliteDialect, place, write));
    } else unreachable(write);
  }
}

const SELECT_NO = `
  select no
  from memory
  where agent = ?1 and scope = ?2 and id = ?3`;

const INSERT_MEMORY = `
  insert into memory (agent, scope, id, body, source, metadata, created_at)
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7)`;

const REPLACE_MEMORY = `
  update memory
  set body = ?2, source = ?3, metadata = ?4, created_at = ?5
  where no = ?1`;

const INDEX_WORDS = 'insert into memory_text (rowid, owner, body) values (?1, ?2, ?3)';
const FORGET_WORDS = 'delete from memory_text where rowid = ?1';
const DELETE_MEMORY = 'delete from memory where no = ?1';

function remember(tx: Connection, place: Place, memory: NewMemory, now: Instant): void {
  const metadata = memory.metadata === undefined ? null : JSON.stringify(memory.metadata);
  const values = [memory.text, memory.source ?? null, metadata, now];
  const known = findNo(tx, place, memory.id);
  if (known !== undefined) {
    tx.run(REPLACE_MEMORY, known, ...values);
    tx.run(FORGET_WORDS, known);
  }
  const no = known ?? tx.insert(INSERT_MEMORY, place.agent, place.scope, memory.id, ...values);
  tx.run(INDEX_WORDS, no, ownerWord(place), withStems(memory.text));
}

function forget(tx: Connection, place: Place, id: string): void {
  const no = findNo(tx, place, id);
  if (no === undefined) return;
  tx.run(FORGET_WORDS, no);
  tx.run(DELETE_MEMORY, no);
}

function findNo(tx: Connection, place: Place, id: string): number | undefined {
  return tx.one<{ no: number }>(SELECT_NO, place.agent, place.scope, id)?.no;
}

/** Agent and scope as one word of the index: letters and digits only, and no two places share one. */
export function ownerWord(place: Place): string {
  return createHash('sha256')
    .update(JSON.stringify([place.agent, place.scope]))
    .digest('hex');
}
