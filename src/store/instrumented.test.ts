import { expect, test } from 'vitest';
import type { AgentName } from '../model/ids.ts';
import type { Scope } from '../model/scope.ts';
import type { ScopedStore, SystemStore } from './contract.ts';
import { instrumentStore } from './instrumented.ts';
import { openMemoryStore } from './memory/memory-store.ts';

/** A store whose every method answers its own name. */
function namedStore(scopedNames: readonly string[], systemNames: readonly string[], memoryNames: readonly string[]) {
  const methods = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, async () => name]));
  const scoped = { ...methods(scopedNames), memories: methods(memoryNames) };
  return { ...methods(systemNames), name: 'memory', scoped: () => scoped } as unknown as SystemStore;
}

function methodsOf(target: object): readonly string[] {
  const names = new Set<string>();
  for (let at: object = target; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  return [...names].filter((name) => name !== 'constructor' && typeof Reflect.get(target, name) === 'function');
}

test('every call of a store passes once, under its name, with its answer', async () => {
  const real = await openMemoryStore();
  const place = ['a' as AgentName, 's' as Scope] as const;
  const scopedNames = methodsOf(real.scoped(...place)).filter((name) => name !== 'memories');
  const systemNames = [...methodsOf(real).filter((name) => name !== 'scoped'), 'leasedTo'];
  const memoryNames = methodsOf(real.scoped(...place).memories);
  const measured: string[] = [];
  const store = instrumentStore(namedStore(scopedNames, systemNames, memoryNames), (name, call) => {
    measured.push(name);
    return call();
  });
  const callAll = async (target: object, names: readonly string[]) => {
    for (const name of names) expect(await (Reflect.get(target, name) as () => Promise<unknown>)()).toBe(name);
  };
  await callAll(store, systemNames);
  await callAll(store.scoped(...place), scopedNames);
  await callAll((store.scoped(...place) as ScopedStore).memories, memoryNames);
  expect(measured.toSorted()).toEqual(
    [
      ...systemNames.filter((name) => name !== 'close'),
      ...scopedNames.map((name) => `scoped.${name}`),
      ...memoryNames.map((name) => `memories.${name}`),
    ].toSorted(),
  );
  await real.close();
});

test('each agent and scope has its own rows, made once while they are kept', async () => {
  const made: string[] = [];
  const inner = {
    name: 'memory',
    scoped: (agent: string, scope: string) => {
      made.push(`${agent}/${scope}`);
      return { memories: {} };
    },
  } as unknown as SystemStore;
  const store = instrumentStore(inner, (_name, call) => call());
  const scoped = (agent: string, scope: string) => store.scoped(agent as AgentName, scope as Scope);
  expect(scoped('a', 'b')).toBe(scoped('a', 'b'));
  scoped('a', 'c');
  scoped('a', 'b c');
  expect(made).toEqual(['a/b', 'a/c', 'a/b c']);
  for (let index = 0; index < 1_000; index += 1) scoped('a', `${index}`);
  scoped('a', 'b');
  expect(made.filter((name) => name === 'a/b')).toHaveLength(2);
});

test('a store without leasedTo has none afterwards', async () => {
  const store = instrumentStore(namedStore([], [], []), (_name, call) => call());
  expect(store.leasedTo).toBeUndefined();
  expect(store.name).toBe('memory');
});
