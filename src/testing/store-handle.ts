import { CodedError } from '../base/errors.ts';
import type { SystemStore } from '../store/contract.ts';

/** A call of a process to its store. */
interface StoreCall {
  readonly name: string;
  /** Counted over all calls of this handle, from 1. */
  readonly number: number;
}

/**
 * What becomes of a call. `fail`: it is not executed and throws `unavailable`. `lose-answer`: it is executed and throws
 * `unavailable`. `die-before`, `die-after`: the process dies without, or with, the call having been executed.
 */
export type Fate = 'pass' | 'fail' | 'lose-answer' | 'die-before' | 'die-after';
export type Intercept = (call: StoreCall) => Fate;

export interface StoreHandle {
  readonly store: SystemStore;
  readonly isDead: boolean;
  /** Calls so far, by name. */
  readonly calls: readonly string[];
  /** From here on no call of this handle reaches the store, and none is answered. */
  kill(): void;
}

/** A handle on a store whose calls can be made to fail, or to be the last thing that a process does. */
export function interceptStore(inner: SystemStore, intercept: Intercept): StoreHandle {
  const state = { isDead: false, calls: [] as string[] };
  const kill = (): void => {
    state.isDead = true;
  };
  const call = async (name: string, execute: () => unknown): Promise<unknown> => {
    if (state.isDead) return await never();
    state.calls.push(name);
    const fate = intercept({ name, number: state.calls.length });
    if (fate === 'die-before') kill();
    if (fate === 'fail') throw new CodedError('unavailable');
    if (state.isDead) return await never();
    const result = await execute();
    if (fate === 'die-after') kill();
    if (state.isDead) return await never();
    if (fate === 'lose-answer') throw new CodedError('unavailable');
    return result;
  };
  return {
    store: intercepted(inner, '', call) as SystemStore,
    get isDead() {
      return state.isDead;
    },
    calls: state.calls,
    kill,
  };
}

type Call = (name: string, execute: () => unknown) => Promise<unknown>;

function intercepted<Target extends object>(target: Target, prefix: string, call: Call): Target {
  return new Proxy(target, {
    get(_target, key) {
      const member: unknown = Reflect.get(target, key, target);
      const name = `${prefix}${String(key)}`;
      if (key === 'memories') return intercepted(member as object, `${prefix}memories.`, call);
      if (typeof member !== 'function') return member;
      if (key === 'scoped') {
        return (...args: unknown[]) => intercepted(member.apply(target, args) as object, 'scoped.', call);
      }
      return (...args: unknown[]) => call(name, () => member.apply(target, args));
    },
  });
}

function never(): Promise<never> {
  return new Promise(() => {});
}
