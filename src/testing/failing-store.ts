import { CodedError } from '../base/errors.ts';
import type { SystemStore } from '../store/contract.ts';
import { interceptStore } from './intercepted-store.ts';

export interface Failure {
  /** Counted from 1 since `arm`. */
  readonly failingCall: number;
  readonly mode: 'once' | 'from-then-on';
  /** `after`: the call took effect and its answer was lost. */
  readonly when: 'before' | 'after';
}

/** A store that breaks at its n-th call, once or for good, before it does anything or after it did it. */
export interface FailingStore {
  readonly store: SystemStore;
  arm(failure: Failure): void;
  /** From here on nothing fails any more. */
  mend(): void;
  readonly wasReached: boolean;
}

export function failingStore(inner: SystemStore): FailingStore {
  let failure: Failure | undefined;
  let calls = 0;
  let wasReached = false;
  const store = interceptStore(inner, async (name, call) => {
    if (failure === undefined || name === 'close') return await call();
    calls += 1;
    const fails = failure.mode === 'once' ? calls === failure.failingCall : calls >= failure.failingCall;
    if (!fails) return await call();
    wasReached = true;
    if (failure.when === 'after') await call();
    throw new CodedError('unavailable', { cause: new Error(`call ${calls}, ${name}, was made to fail`) });
  });
  return {
    store,
    arm(next) {
      failure = next;
      calls = 0;
      wasReached = false;
    },
    mend() {
      failure = undefined;
    },
    get wasReached() {
      return wasReached;
    },
  };
}
