import type { Fact, Grant } from '../../src/store/contract.ts';

export interface StepCall {
  readonly taskId: string;
  readonly messageId: string;
  readonly name: string;
  readonly fence: number;
  readonly idempotencyKey: string;
}

/** Names one run; `attempt` counts within the turn that its message began. */
export interface RunPlace {
  readonly taskId: string;
  readonly messageId: string;
  readonly attempt: number;
}

/**
 * The outside world of a history: what the handlers did there, and what the store took of it. A step whose result was
 * recorded is paid for; a later run must not pay again.
 */
export class Ledger {
  readonly breaches: string[] = [];
  readonly counts = { steps: 0, paidTwice: 0, zombieSteps: 0, replies: 0, recorded: 0 };
  /** The fence under which a step was recorded. */
  readonly #recorded = new Map<string, number>();
  /** Steps of a run that have begun and are neither recorded nor failed. */
  readonly #open = new Map<string, Set<string>>();
  readonly #keys = new Map<string, string>();
  readonly #values = new Map<string, string>();
  readonly #calls = new Map<string, number>();
  readonly #texts = new Map<string, string>();

  breach(rule: string): void {
    this.breaches.push(rule);
  }

  /** The store has committed facts under a grant. */
  committed(grant: Grant, facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind !== 'journal' || fact.entry.kind !== 'step' || fact.entry.state !== 'done') continue;
      const key = placeOf(grant.taskId, grant.turn.messageId, fact.entry.key);
      if (this.#recorded.has(key)) this.breach(`step ${key} is recorded twice`);
      this.#openSteps(grant.taskId, grant.fence).delete(fact.entry.key);
      this.#recorded.set(key, grant.fence);
      if (fact.entry.key.startsWith('step:')) this.counts.recorded += 1;
    }
  }

  /** The store has parked a run. Its turn goes on in another, which would pay again for what was open. */
  parked(grant: Grant): void {
    for (const name of this.#openSteps(grant.taskId, grant.fence)) {
      this.breach(`a run of ${grant.taskId} parked beside its open step ${name}`);
    }
  }

  /** A step's work begins; gives how often it has begun. */
  stepBegins(call: StepCall): number {
    const key = placeOf(call.taskId, call.messageId, `step:${call.name}`);
    const recordedUnder = this.#recorded.get(key);
    if (recordedUnder !== undefined) {
      // A frozen process that thaws after its successor recorded the step cannot know; its idempotency key is the same.
      if (recordedUnder > call.fence) this.counts.zombieSteps += 1;
      else this.breach(`step ${key} runs under fence ${call.fence}, recorded under ${recordedUnder}`);
    }
    this.#openSteps(call.taskId, call.fence).add(`step:${call.name}`);
    const known = this.#keys.get(key) ?? call.idempotencyKey;
    if (known !== call.idempotencyKey) this.breach(`step ${key} has two idempotency keys`);
    this.#keys.set(key, call.idempotencyKey);
    const calls = (this.#calls.get(key) ?? 0) + 1;
    this.#calls.set(key, calls);
    this.counts.steps += 1;
    if (calls > 1) this.counts.paidTwice += 1;
    return calls;
  }

  stepFailed({ taskId, fence, name }: Pick<StepCall, 'taskId' | 'fence' | 'name'>): void {
    this.#openSteps(taskId, fence).delete(`step:${name}`);
  }

  /** A handler has seen a result: once recorded it is the same for ever. */
  stepGave(call: Omit<StepCall, 'idempotencyKey'>, result: string): void {
    const key = placeOf(call.taskId, call.messageId, `step:${call.name}`);
    if (!this.#recorded.has(key)) this.breach(`step ${key} gave a result that was not recorded`);
    const known = this.#values.get(key) ?? result;
    if (known !== result) this.breach(`step ${key} gave ${known}, then ${result}`);
    this.#values.set(key, known);
  }

  /** What a handler wrote into its artifact from the top to its end. */
  wrote(run: RunPlace, text: string): void {
    this.#texts.set(JSON.stringify(run), text);
  }

  textOf(run: RunPlace): string | undefined {
    return this.#texts.get(JSON.stringify(run));
  }

  /** How often the reply skill has run. */
  replied(): number {
    this.counts.replies += 1;
    return this.counts.replies;
  }

  #openSteps(taskId: string, fence: number): Set<string> {
    const run = `${taskId}/${fence}`;
    const open = this.#open.get(run) ?? new Set();
    this.#open.set(run, open);
    return open;
  }
}

function placeOf(taskId: string, messageId: string, key: string): string {
  return `${taskId}/${messageId}/${key}`;
}
