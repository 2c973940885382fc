#!/usr/bin/env node
/*
 * The version of Node is looked at before anything else is loaded, so that an old one says what is wrong with a line
 * and not with a syntax error. Nothing here is younger than Node 12.
 */
const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number);
const isNewEnough =
  major === 22 ? minor > 22 || (minor === 22 && patch >= 3) : major > 24 || (major === 24 && minor >= 15);

/** Node 22 says of its SQLite and of its type stripping that they are experimental, once a process. */
const warn = process.emitWarning as (warning: string | Error, ...rest: unknown[]) => void;
process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
  if (!/^(SQLite|Type Stripping) is an experimental feature/.test(String(warning)))
    warn.call(process, warning, ...rest);
};

if (isNewEnough) {
  import('./run-main.ts').then(
    ({ runMain }) => runMain(),
    (error) => {
      console.error(error);
      process.exitCode = 1;
    },
  );
} else {
  console.error(
    `holdfast needs Node 22.22.3 or newer in line 22, or 24.15 or newer; this is ${process.versions.node}. Older ones have a bug in SQLite that can damage a database.`,
  );
  process.exitCode = 1;
}
