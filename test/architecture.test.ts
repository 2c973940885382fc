import { describe, expect, test } from 'vitest';
import { houseRules } from './support/house-rules.ts';
import { type Arrows, importsAgainst, packagesAgainst } from './support/import-arrows.ts';
import { parseSource, readSourceFiles } from './support/source-files.ts';

/** cli → server → bindings → operations → runtime → store/contract → model → base, and what stands beside that line. */
const mayImport: Arrows = {
  base: [],
  model: ['base'],
  protocol: ['base', 'model'],
  'store/contract': ['base', 'model'],
  store: ['base', 'model', 'store/contract', 'store/sql'],
  'store/memory': ['base', 'model', 'store/contract', 'store'],
  'store/sql': ['base', 'model', 'store/contract', 'store'],
  'store/sqlite': ['base', 'model', 'store/contract', 'store', 'store/sql'],
  'store/postgres': ['base', 'model', 'store/contract', 'store', 'store/sql'],
  agent: ['base', 'model'],
  runtime: ['base', 'model', 'agent', 'store/contract'],
  operations: ['base', 'model', 'agent', 'runtime', 'store/contract'],
  bindings: ['base', 'model', 'protocol', 'operations'],
  auth: ['base', 'model', 'operations'],
  push: ['base', 'model', 'protocol', 'runtime'],
  observability: ['base'],
  client: ['base', 'model', 'protocol'],
  adapters: ['base', 'model', 'agent'],
  server: ['*'],
  cli: ['base', 'model', 'protocol', 'client', 'server', 'observability', 'agents'],
  testing: ['*'],
  entry: ['*'],
  agents: ['entry', 'base', 'model', 'agent', 'adapters'],
};

/** Packages with one home. */
const packageHomes = {
  fastify: /^src\/server\//,
  pg: /^src\/store\/postgres\//,
  'node:sqlite': /^src\/store\/sqlite\//,
  commander: /^src\/cli\//,
  'prom-client': /^src\/observability\//,
  '@a2a-js/sdk': /^src\/(adapters|bindings\/grpc)\//,
};

const files = readSourceFiles();

describe('the rules of the house', () => {
  test('imports follow the arrows', () => {
    expect(importsAgainst(mayImport, files)).toEqual([]);
  });
  test('a package with one home is imported there alone', () => {
    expect(packagesAgainst(packageHomes, files)).toEqual([]);
  });
  test.each(Object.entries(houseRules))('%s', (_name, rule) => {
    expect(rule(files)).toEqual([]);
  });
});

describe('the rules see a breach', () => {
  test.each([
    ['src/model/a.ts', "import '../runtime/b.ts';", 'model may import base'],
    ['src/runtime/a.ts', "import type { B } from '../store/migrate.ts';", 'runtime may import'],
    ['src/operations/a.ts', "await import('../store/sqlite/b.ts');", 'operations may import'],
    ['src/store/sqlite/a.ts', "export { b } from '../postgres/b.ts';", 'store/sqlite may import'],
    ['src/base/a.ts', "import '../../test/b.ts';", 'knows no test'],
    ['src/base/a.test.ts', "import '../../test/b.ts';", 'src/testing'],
    ['src/server/a.ts', "import '../testing/b.ts';", 'imports src/testing'],
    ['src/drawer/a.ts', '', 'no row in mayImport'],
  ])('an arrow against the line: %s %s', (path, text, message) => {
    expect(importsAgainst(mayImport, [parseSource(path, text)])).toEqual([expect.stringContaining(message)]);
  });

  test.each([
    ['src/model/a.ts', "import '../base/b.ts';"],
    ['src/runtime/a.ts', "import type { B } from '../store/contract.ts';"],
    ['src/runtime/a.test.ts', "import { b } from '../store/memory/b.ts';"],
    ['src/server/a.ts', "import { b } from '../store/postgres/b.ts';"],
    ['src/store/sqlite/a.ts', "import { b } from '../contract.ts';"],
  ])('an arrow along the line: %s %s', (path, text) => {
    expect(importsAgainst(mayImport, [parseSource(path, text)])).toEqual([]);
  });

  test('a package away from home', () => {
    const file = parseSource('src/runtime/a.ts', "import pg from 'pg';");
    expect(packagesAgainst(packageHomes, [file])).toEqual([expect.stringContaining('src/runtime/a.ts:1 imports pg')]);
  });

  const lines = (count: number): string => '\n'.repeat(count);
  test.each<[keyof typeof houseRules, string, string, string]>([
    ['ambientCalls', 'src/model/a.ts', '\nconst at = Date.now();', 'a.ts:2 uses Date.now'],
    ['ambientCalls', 'src/model/a.ts', 'const at = new Date();', 'new Date()'],
    ['ambientCalls', 'src/model/a.ts', "import { randomUUID } from 'node:crypto';", 'randomUUID'],
    ['ambientCalls', 'src/model/a.ts', 'setTimeout(run, 1);', 'setTimeout'],
    ['consoleCalls', 'src/server/a.ts', 'console.log(1);', 'console.log'],
    ['strayStatements', 'src/runtime/a.ts', 'const s = `\n  update t set n = 1`;', 'holds SQL'],
    ['strayStatements', 'src/runtime/a.ts', "const s = 'SELECT ID FROM TASK';", 'holds SQL'],
    ['asyncInModel', 'src/model/a.ts', 'export async function decide() {}', 'asynchronous'],
    ['systemStoreAtTheDoors', 'src/bindings/a.ts', 'let s: SystemStore;', 'SystemStore'],
    ['fancySyntax', 'src/base/a.ts', 'enum A { b }', 'enum'],
    ['fancySyntax', 'src/base/a.ts', 'namespace A {}', 'namespace'],
    ['fancySyntax', 'src/base/a.ts', 'class A { constructor(readonly b: string) {} }', 'parameter property'],
    ['fancySyntax', 'src/base/a.ts', "export * from './b.ts';", 'export *'],
    ['fancySyntax', 'src/agent/define-agent.ts', 'export default 1;', 'default export'],
    ['fancySyntax', 'src/base/a.ts', 'export default function a() {}', 'default export'],
    ['longFiles', 'src/base/a.ts', `${lines(400)}let a;`, 'has 401 lines'],
    ['longFunctions', 'src/base/a.ts', `function a() {${lines(70)}}`, 'a function of 71 lines'],
    ['longFunctions', 'test/a.test.ts', `test('a', () => {${lines(70)}});`, 'a function of 71 lines'],
    ['leftovers', 'src/base/a.ts', `// ${'FIX'}ME`, 'leftover'],
    ['leftovers', 'src/base/a.ts', `// ${'TO'}DO later`, 'without'],
    ['fileNames', 'src/base/utils.ts', '', 'drawer'],
    ['fileNames', 'src/base/myClock.ts', '', 'kebab-case'],
    ['relativeImports', 'src/base/a.ts', "import './b.js';", 'end it in .ts'],
  ])('%s: %s', (name, path, text, message) => {
    expect(houseRules[name]([parseSource(path, text)])).toEqual([expect.stringContaining(message)]);
  });

  test.each<[keyof typeof houseRules, string, string]>([
    ['ambientCalls', 'src/base/clock.ts', 'Date.now();'],
    ['ambientCalls', 'src/model/a.ts', 'new Date(at).toISOString();'],
    ['ambientCalls', 'src/server/a.ts', 'socket.setTimeout(0);'],
    ['consoleCalls', 'src/cli/a.ts', 'console.log(1);'],
    ['strayStatements', 'src/cli/a.ts', "const s = 'Select a task from the list';"],
    ['fancySyntax', 'agents/demo.ts', 'export default 1;'],
    ['fancySyntax', 'test/e2e/agents/slow.ts', 'export default 1;'],
    ['fancySyntax', 'test/a.ts', "declare module 'vitest' { interface A {} }"],
    ['longFiles', 'src/base/a.ts', `${lines(399)}let a;\n`],
    ['longFunctions', 'src/base/a.ts', `function a() {${lines(69)}}`],
    ['longFunctions', 'test/a.test.ts', `describe.each([])('a', () => {${lines(90)}});`],
    ['leftovers', 'src/base/a.ts', `// ${'TO'}DO(#12) later`],
  ])('%s is quiet: %s', (name, path, text) => {
    expect(houseRules[name]([parseSource(path, text)])).toEqual([]);
  });
});
