import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** One TypeScript file of the repository, parsed but not type-checked. */
export interface SourceFile {
  /** From the root of the repository, with forward slashes: `src/base/clock.ts`. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  readonly isTest: boolean;
}

export interface Import {
  readonly specifier: string;
  /** The path in the repository that a relative specifier means. */
  readonly target: string | undefined;
  readonly node: ts.Node;
}

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const FOLDERS = ['src', 'agents', 'bench', 'test'];

export function readSourceFiles(): SourceFile[] {
  return FOLDERS.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => parseSource(relative(ROOT, file).split(sep).join('/'), readFileSync(file, 'utf8'))),
  );
}

export function parseSource(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return { path, text, tree, isTest: path.endsWith('.test.ts') || path.endsWith('.test-d.ts') };
}

/** Every node of the file, parents before their children. */
export function* walk(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => {
    children.push(child);
  });
  for (const child of children) yield* walk(child);
}

/** Static imports, re-exports, dynamic imports and `import('…')` types. */
export function importsOf(file: SourceFile): Import[] {
  const found: Import[] = [];
  for (const node of walk(file.tree)) {
    const specifier = specifierOf(node);
    if (specifier === undefined) continue;
    const isRelative = specifier.startsWith('.');
    const target = isRelative ? posix.join(posix.dirname(file.path), specifier) : undefined;
    found.push({ specifier, target, node });
  }
  return found;
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return textOf(node.arguments[0]);
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return textOf(node.argument.literal);
  return undefined;
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;
}

export function lineOf(file: SourceFile, node: ts.Node): number {
  return file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree)).line + 1;
}

export function lineCount(file: SourceFile, node: ts.Node): number {
  return file.tree.getLineAndCharacterOfPosition(node.getEnd()).line + 2 - lineOf(file, node);
}
