import { assert } from './assert.ts';

/** A place in the code that a test can wait for. Costs nothing until a test arms it. */
export class Probe<T> {
  #hits: T[] = [];
  #waiters: ((value: T) => void)[] | undefined;

  arm(): void {
    this.#waiters ??= [];
  }

  hit(value: T): void {
    if (this.#waiters === undefined) return;
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#hits.push(value);
    else waiter(value);
  }

  next(): Promise<T> {
    const waiters = this.#waiters;
    assert(waiters !== undefined, 'arm() the probe before the code under test runs');
    if (this.#hits.length > 0) return Promise.resolve(this.#hits.shift() as T);
    return new Promise((resolve) => waiters.push(resolve));
  }
}
