/** Work under one key happens one after the other; under different keys side by side. */
export class InTurn {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does `work` when everything that came before it under this key is over, however that ended. */
  do<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    const over = result.then(
      () => {},
      () => {},
    );
    this.#last.set(key, over);
    over.then(() => {
      if (this.#last.get(key) === over) this.#last.delete(key);
    });
    return result;
  }

  /** Keys with work that is not over. */
  get size(): number {
    return this.#last.size;
  }
}
