import type { Dialect } from '../dialect.ts';

/**
 * Memories and who may read them. The text is stored once, as it was written; the index of its words is
 * what differs: a contentless FTS5 table on SQLite (its rowid is `memory.no`), a tsvector column on PostgreSQL.
 */
export function memoryTables(d: Dialect): readonly string[] {
  const words = d.name === 'postgres' ? 'words tsvector not null,' : '';
  return [
    `create table ${d.table('memory')} (
      no ${d.identity},
      agent text not null,
      scope text not null,
      id text not null,
      body text not null,
      source text,
      metadata text,
      created_at ${d.integer} not null,
      ${words}
      constraint memory_id_is_per_scope unique (agent, scope, id)
    )${d.rowTable}`,
    // MemoryStore.list, newest first.
    `create index memory_list on ${d.table('memory')} (agent, scope, created_at desc, no desc)${d.listingOnly}`,
    ...(d.name === 'postgres'
      ? [`create index memory_words on ${d.table('memory')} using gin (words)`]
      : [wordsTable(d)]),
    `create table ${d.table('memory_grant')} (
      memory_no ${d.integer} not null references ${d.table('memory')} (no) on delete cascade,
      scope text not null,
      primary key (memory_no, scope)
    )${d.keyedTable}`,
    // What a scope may read of others.
    `create index memory_grant_of_scope on ${d.table('memory_grant')} (scope, memory_no)`,
  ];
}

/** `owner` is one word made from agent and scope, so that a search walks the hits of its own scope only. */
function wordsTable(d: Dialect): string {
  return `create virtual table ${d.table('memory_text')} using fts5 (
      owner,
      body,
      content = '',
      contentless_delete = 1,
      tokenize = 'unicode61 remove_diacritics 2'
    )`;
}
