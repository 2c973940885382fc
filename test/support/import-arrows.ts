import { type Import, importsOf, lineOf, type SourceFile } from './source-files.ts';

/** What each folder of src may import besides itself. A name with a slash is a part of a folder; `*` is everything. */
export type Arrows = Readonly<Record<string, readonly string[]>>;

/** Imports of one part of the product by another that the arrows do not allow. Test files import what they test. */
export function importsAgainst(arrows: Arrows, files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => /^(src|agents)\//.test(file.path))
    .flatMap((file) => {
      const from = placeOf(file.path);
      const allowed = arrows[from.part] ?? arrows[from.folder];
      if (allowed === undefined) return [`${file.path}:1 lies in a folder that has no row in mayImport`];
      return importsOf(file).flatMap((found) => {
        const breach = file.isTest ? breachOfTest(file, found) : breachOf(from, allowed, found);
        return breach === undefined ? [] : [`${file.path}:${lineOf(file, found.node)} ${breach}`];
      });
    });
}

function breachOfTest(file: SourceFile, { target }: Import): string | undefined {
  const leaves = file.path.startsWith('src/') && target !== undefined && /^(test|bench)\//.test(target);
  return leaves ? `imports ${target}: what unit tests share lies in src/testing` : undefined;
}

function breachOf(from: Place, allowed: readonly string[], { target }: Import): string | undefined {
  if (target === undefined) return undefined;
  if (/^(test|bench)\//.test(target)) return `imports ${target}: the product knows no test and no benchmark`;
  const to = placeOf(target);
  if (to.folder === 'testing' && from.folder !== 'testing') return `imports ${target}: only tests may`;
  if (from.part === to.part || allowed.includes('*')) return undefined;
  return allowed.includes(to.folder) || allowed.includes(to.part)
    ? undefined
    : `imports ${target}: ${from.part} may import ${allowed.join(', ') || 'nothing'}`;
}

interface Place {
  readonly folder: string;
  /** The folder, but for the store, whose contract and whose adapters are parts of their own. */
  readonly part: string;
}

function placeOf(path: string): Place {
  const [top = '', folder = '', next] = path.split('/');
  if (top === 'agents') return { folder: 'agents', part: 'agents' };
  if (next === undefined) return { folder: 'entry', part: 'entry' };
  if (folder !== 'store') return { folder, part: folder };
  if (path.split('/').length > 3 && next !== 'contract') return { folder: `store/${next}`, part: `store/${next}` };
  const isContract = /contract|capabilities/.test(next);
  return { folder: 'store', part: isContract ? 'store/contract' : 'store' };
}

/** Packages that one place alone may know, so that changing one changes one place. */
export function packagesAgainst(owners: Readonly<Record<string, RegExp>>, files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => file.path.startsWith('src/') && !file.isTest)
    .flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => owners[specifier]?.test(file.path) === false)
        .map(
          ({ specifier, node }) =>
            `${file.path}:${lineOf(file, node)} imports ${specifier}: only ${owners[specifier]?.source} may`,
        ),
    );
}
