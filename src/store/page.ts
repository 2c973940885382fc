import type { Page } from '../model/page.ts';

/** A page, of rows that are one more than it holds where more follow. */
export function pageOf<Row, Item>(rows: readonly Row[], pageItems: number, decode: (row: Row) => Item): Page<Item> {
  return { items: rows.slice(0, pageItems).map(decode), more: rows.length > pageItems };
}
