import ts from 'typescript';
import { importsOf, lineCount, lineOf, type SourceFile, walk } from './source-files.ts';

/** A rule of the house: reads files, returns a sentence with file and line for each breach. */
export type Rule = (files: readonly SourceFile[]) => string[];

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;

/** Applies `check` to every node of the files that `applies` selects. */
function eachNode(
  applies: (file: SourceFile) => boolean,
  check: (node: ts.Node, file: SourceFile) => string | undefined,
): Rule {
  return (files) =>
    files.filter(applies).flatMap((file) =>
      [...walk(file.tree)].flatMap((node) => {
        const breach = check(node, file);
        return breach === undefined ? [] : [`${file.path}:${lineOf(file, node)} ${breach}`];
      }),
    );
}

const inProduct = (file: SourceFile): boolean => /^(src|agents)\//.test(file.path);
const everywhere = (): boolean => true;

const bannedProperties: Record<string, string> = {
  'Date.now': 'take a Clock',
  'Math.random': 'take a Random',
  'performance.now': 'take a Clock',
  'process.hrtime': 'take a Clock',
  'AbortSignal.timeout': 'race with the sleep of a Clock',
};
const bannedNames: Record<string, string> = {
  randomUUID: 'take a source of ids',
  setTimeout: 'use the sleep of a Clock',
  setInterval: 'use a loop with the sleep of a Clock',
};

/** Time, chance and names come in through the door, so that a test can hold it. */
const ambientCalls = eachNode(
  (file) => inProduct(file) && !file.path.startsWith('src/base/'),
  (node, file) => {
    if (ts.isPropertyAccessExpression(node)) {
      const name = node.getText(file.tree);
      const reason = bannedProperties[name.replace(/^globalThis\./, '')];
      if (reason !== undefined) return `uses ${name}: ${reason}`;
    }
    if (ts.isNewExpression(node) && node.expression.getText(file.tree) === 'Date' && !node.arguments?.length) {
      return 'uses new Date() without a time: take a Clock';
    }
    if (ts.isIdentifier(node) && bannedNames[node.text] !== undefined && !isMemberOfAnother(node)) {
      return `uses ${node.text}: ${bannedNames[node.text]}`;
    }
    return undefined;
  },
);

/** `socket.setTimeout` is not the global one, `crypto.randomUUID` is. */
function isMemberOfAnother(name: ts.Identifier): boolean {
  if (ts.isPropertySignature(name.parent) || ts.isPropertyAssignment(name.parent)) return name.parent.name === name;
  if (!ts.isPropertyAccessExpression(name.parent) || name.parent.name !== name) return false;
  return !/^(globalThis|crypto|timers)$/.test(name.parent.expression.getText());
}

/** A library does not print. */
const consoleCalls = eachNode(
  (file) => inProduct(file) && !/^src\/(base|cli)\//.test(file.path),
  (node) =>
    ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'console'
      ? `uses console.${node.name.text}: take a Logger`
      : undefined,
);

const SQL_PATTERN =
  /^\s*(--.*\n\s*)*(select\b[\s\S]*\sfrom\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+\S+\s+as\s*(not\s+|materialized\s*)*\(|(create|alter|drop)\s+(unique\s+)?(table|index|schema|view)\s|pragma\s+\w|begin\s+immediate)/;

/** SQL lives under src/store, where the dialects are. */
const strayStatements = eachNode(
  (file) => inProduct(file) && !file.path.startsWith('src/store/'),
  (node, file) => {
    if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return undefined;
    const text = node.getText(file.tree).slice(1, -1);
    const isSql = SQL_PATTERN.test(text) || (text === text.toUpperCase() && SQL_PATTERN.test(text.toLowerCase()));
    return isSql ? 'holds SQL: move the statement under src/store' : undefined;
  },
);

/** The core decides and never waits. */
const asyncInModel = eachNode(
  (file) => file.path.startsWith('src/model/') && !file.isTest,
  (node) =>
    node.kind === ts.SyntaxKind.AsyncKeyword || ts.isAwaitExpression(node)
      ? 'is asynchronous: src/model decides, the shell waits'
      : undefined,
);

/** Doors get a ScopedStore: a query without a scope cannot be written there. */
const systemStoreAtTheDoors = eachNode(
  (file) => /^src\/(operations|bindings)\//.test(file.path) && !file.isTest,
  (node) =>
    ts.isIdentifier(node) && node.text === 'SystemStore'
      ? 'knows SystemStore: operations and bindings work on a ScopedStore'
      : undefined,
);

/** Erasable syntax only, and one way to export. */
const fancySyntax = eachNode(everywhere, (node, file) => {
  if (ts.isEnumDeclaration(node)) return 'declares an enum: use a union of strings';
  if (ts.isModuleDeclaration(node) && ts.isIdentifier(node.name)) return 'declares a namespace: use a module';
  if (ts.isParameterPropertyDeclaration(node, node.parent)) return 'has a parameter property: write the field';
  if (ts.isDecorator(node)) return 'has a decorator: call a function';
  if (ts.isExportDeclaration(node) && node.exportClause === undefined) return 'has export *: name what is exported';
  if (isDefaultExport(node) && !mayExportDefault(file)) return 'has a default export: name it';
  return undefined;
});

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return node.kind === ts.SyntaxKind.DefaultKeyword && ts.canHaveModifiers(node.parent);
}

/** Agent files export their agent by default; those of the tests lie in a folder `agents` or are named so. */
function mayExportDefault(file: SourceFile): boolean {
  return /^agents\/|^(test|bench)\/(.*\/)?(agents\/|([^/]*-)?agent\.ts$)|\.config\.ts$/.test(file.path);
}

const longFiles: Rule = (files) =>
  files.flatMap((file) => {
    const lines = file.text.replace(/\n$/, '').split('\n').length;
    return lines > FILE_LINES_MAX ? [`${file.path}:${lines} has ${lines} lines of ${FILE_LINES_MAX}`] : [];
  });

const longFunctions = eachNode(everywhere, (node, file) => {
  if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined || groupsTests(node)) return undefined;
  const lines = lineCount(file, node);
  return lines > FUNCTION_LINES_MAX ? `has a function of ${lines} lines of ${FUNCTION_LINES_MAX}` : undefined;
});

/** The callback of `describe(…)`, and functions named `describe…`: a list of tests, not one long thought. */
function groupsTests(node: ts.SignatureDeclaration): boolean {
  if (node.name !== undefined && ts.isIdentifier(node.name)) return node.name.text.startsWith('describe');
  const call = node.parent;
  return ts.isCallExpression(call) && /^(\w*\.)?describe\b/.test(call.expression.getText());
}

/** What is left to do stands with the number of its issue, as in `(#12)`. What is known to be broken does not stand. */
const leftovers: Rule = (files) =>
  files.flatMap((file) =>
    file.text.split('\n').flatMap((line, index) => {
      if (/\bFIX(?:ME)\b/.test(line)) return [`${file.path}:${index + 1} has a leftover FIX${'ME'}`];
      if (/\/[/*].*\bTO(?:DO)\b(?!\(#\d+\))/.test(line))
        return [`${file.path}:${index + 1} has a TO${'DO'} without (#issue)`];
      return [];
    }),
  );

const DRAWER = /^(utils?|types|interfaces|helpers?|common|manager|misc|shared)$|-(utils?|helpers?|manager)$/;

const fileNames: Rule = (files) =>
  files.flatMap(({ path }) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const stem = name.replace(/(\.(test|test-d|bench|config))?\.ts$/, '');
    if (DRAWER.test(stem)) return [`${path}:1 is a drawer: name it after the one thing in it`];
    return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(stem) ? [] : [`${path}:1 is not named in kebab-case`];
  });

const relativeImports: Rule = (files) =>
  files.flatMap((file) =>
    importsOf(file)
      .filter(({ specifier, target }) => target !== undefined && !specifier.endsWith('.ts'))
      .map(({ specifier, node }) => `${file.path}:${lineOf(file, node)} imports ${specifier}: end it in .ts`),
  );

export const houseRules = {
  ambientCalls,
  consoleCalls,
  strayStatements,
  asyncInModel,
  systemStoreAtTheDoors,
  fancySyntax,
  longFiles,
  longFunctions,
  leftovers,
  fileNames,
  relativeImports,
} satisfies Record<string, Rule>;
