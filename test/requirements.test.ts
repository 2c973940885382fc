import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { requirements } from './requirements.ts';

const root = path.join(import.meta.dirname, '..');

function testFiles(folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') || name.endsWith('-cases.ts'))
    .map((name) => path.join(folder, name));
}

function citations(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of ['src', 'agents', 'test'].flatMap(testFiles)) {
    const text = readFileSync(path.join(root, file), 'utf8');
    for (const call of text.matchAll(/verifies\(([^)]*)\)/g)) {
      for (const id of call[1]?.matchAll(/'([^']+)'/g) ?? [])
        found.set(id[1] ?? '', [...(found.get(id[1] ?? '') ?? []), file]);
    }
  }
  return found;
}

test('every promise is cited by a test, and nothing else is', () => {
  const cited = citations();
  expect(Object.keys(requirements).filter((id) => !cited.has(id))).toEqual([]);
  expect([...cited.keys()].filter((id) => !(id in requirements))).toEqual([]);
});

test('the conformance page lists every promise', () => {
  const page = readFileSync(path.join(root, 'docs/conformance.md'), 'utf8');
  expect(
    Object.entries(requirements).filter(
      ([id, row]) => !page.includes(`| \`${id}\` | ${row.source} | ${row.promise} |`),
    ),
  ).toEqual([]);
});
