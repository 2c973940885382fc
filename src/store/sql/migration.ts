import type { Dialect } from './dialect.ts';

/** One numbered change of the schema. Additive within a major version, so that an older node keeps running beside a newer one. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** The oldest code, named by the newest migration it knows, that may run on a schema with this one applied. */
  readonly codeVersionMin: number;
  /** In order. The text is part of the checksum: a migration that was released is never edited. */
  readonly statements: (d: Dialect) => readonly string[];
}
