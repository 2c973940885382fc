import type { SystemStore } from '../../src/store/contract.ts';

/** Where in a store call the process dies: before it is made, while it is under way, after it returned. */
export type Moment = 'before' | 'during' | 'after';

const WRITES = new Set([
  'submit',
  'command',
  'claim',
  'append',
  'settle',
  'beginReply',
  'finishReply',
  'stageSlice',
  'registerWorker',
  'buryWorkers',
]);

/**
 * A store in front of the real one that kills its own process at the n-th write. Real in every other way: the file,
 * the transactions and the operating system's clean-up are those of a real crash.
 */
export function deadlyStore<Store extends SystemStore>(
  inner: Store,
  death: { readonly at: number; readonly moment: Moment; readonly onCount?: (count: number) => void },
): Store {
  let count = 0;
  const wrap = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(object, name, receiver) {
        const value = Reflect.get(object, name, receiver) as unknown;
        if (typeof value !== 'function') return value;
        if (name === 'scoped')
          return (...args: readonly unknown[]) => wrap(Reflect.apply(value, object, args) as object);
        if (typeof name !== 'string' || !WRITES.has(name)) return value.bind(object);
        return (...args: readonly unknown[]) => {
          count += 1;
          death.onCount?.(count);
          return count === death.at
            ? die(() => Reflect.apply(value, object, args) as Promise<unknown>, death.moment)
            : Reflect.apply(value, object, args);
        };
      },
    });
  return wrap(inner);
}

async function die(call: () => Promise<unknown>, moment: Moment): Promise<never> {
  if (moment !== 'before') {
    const under = call();
    if (moment === 'after') await under;
  }
  process.kill(process.pid, 'SIGKILL');
  return new Promise<never>(() => {});
}
