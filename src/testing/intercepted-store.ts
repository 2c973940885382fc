import type { ScopedStore, SystemStore } from '../store/contract.ts';

/** Stands between the runtime and its store: sees the name of each call and decides what comes of it. */
export type Intercept = (name: string, call: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>;

/** A store whose every call goes through `intercept`; scoped calls are named `scoped.submit`, `memories.write`. */
export function interceptStore(store: SystemStore, intercept: Intercept): SystemStore {
  return wrap(store, '', intercept, {
    scoped: (agent: never, scope: never) => scopedStore(store.scoped(agent, scope), intercept),
  });
}

function scopedStore(store: ScopedStore, intercept: Intercept): ScopedStore {
  return wrap(store, 'scoped.', intercept, { memories: wrap(store.memories, 'memories.', intercept, {}) });
}

function wrap<Target extends object>(
  target: Target,
  prefix: string,
  intercept: Intercept,
  own: Readonly<Record<string, unknown>>,
): Target {
  return new Proxy(target, {
    get(inner, key) {
      if (typeof key === 'string' && key in own) return own[key];
      const value: unknown = Reflect.get(inner, key, inner);
      if (typeof value !== 'function' || typeof key !== 'string') return value;
      return (...args: unknown[]) => intercept(prefix + key, async () => Reflect.apply(value, inner, args), args);
    },
  });
}

/** Counts calls by name. */
export function countingStore(store: SystemStore): {
  readonly store: SystemStore;
  readonly calls: Map<string, number>;
} {
  const calls = new Map<string, number>();
  const counted = interceptStore(store, (name, call) => {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    return call();
  });
  return { store: counted, calls };
}
