import type { Dialect } from '../dialect.ts';

/** Who did what, and what was asked to be erased. `tx` orders entries by commit: PostgreSQL's transaction id, SQLite's number of the commit. */
export function accountingTables(d: Dialect): readonly string[] {
  const tx = d.name === 'postgres' ? 'tx xid8 not null default pg_current_xact_id()' : 'tx integer not null';
  const txBelow = d.name === 'postgres' ? 'tx_below xid8 not null' : 'tx_below integer not null';
  return [
    `create table ${d.table('audit')} (
      no ${d.identity},
      ${tx},
      at ${d.integer} not null,
      actor text not null,
      agent text not null,
      scope text not null,
      operation text not null,
      target text,
      result text not null,
      trace text,
      entry_hash ${d.bytes} not null
    )${d.rowTable}`,
    `create table ${d.table('audit_seal')} (
      no ${d.integer} primary key,
      first_no ${d.integer} not null,
      ${txBelow},
      entries ${d.integer} not null,
      prev_hash ${d.bytes} not null,
      hash ${d.bytes} not null,
      at ${d.integer} not null
    )${d.rowTable}`,
    `create table ${d.table('erasure')} (
      no ${d.identity},
      subject_kind ${d.smallint} not null,
      subject text not null,
      agent text,
      requested_at ${d.integer} not null,
      state ${d.smallint} not null,
      counts text
    )${d.rowTable}`,
    // One open request a subject.
    `create unique index erasure_open on ${d.table('erasure')} (subject_kind, subject) where state = 0`,
  ];
}
