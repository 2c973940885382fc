import { AgentCodeError } from '../agent/errors.ts';

/** A marker in the name of a function is found again in the stack of whatever it calls or awaits. */
const MARKER = /holdfast-step-(\d+)/;
const STACK_FRAMES = 200;

let lastMarker = 0;

/**
 * Knows the steps that are at work, and whether a call comes from inside one of them.
 *
 * Nothing is ambient here, so the call's own stack is asked: the engine writes into it who awaits whom, through
 * async functions, `then`, `Promise.all` and generators. A call that reaches the turn through an event emitter or a
 * callback is not seen; it makes a step that waits for itself, which `Suspensions` reports.
 */
export class StepScope {
  readonly #open = new Map<string, string>();

  /** Names of the steps at work. */
  get openSteps(): readonly string[] {
    return [...this.#open.values()];
  }

  async run<Result>(name: string, work: () => Result | Promise<Result>): Promise<Result> {
    lastMarker += 1;
    const id = String(lastMarker);
    this.#open.set(id, name);
    const marker = `holdfast-step-${id}`;
    try {
      return (await { [marker]: async () => await work() }[marker]?.()) as Result;
    } finally {
      this.#open.delete(id);
    }
  }

  /** Refuses a suspension that is called by a step: it would wait for itself. */
  refuseInside(method: 'ask' | 'authorize' | 'sleep'): void {
    const step = this.#open.size === 0 ? undefined : this.#calling();
    if (step === undefined) return;
    throw new AgentCodeError(
      'ask-in-step',
      `turn.${method} was called inside step "${step}". A step must finish by itself: ${method} first, then call the step.`,
    );
  }

  #calling(): string | undefined {
    const found = MARKER.exec(callStack())?.[1];
    return found === undefined ? undefined : this.#open.get(found);
  }
}

function callStack(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = STACK_FRAMES;
  const { stack } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return stack ?? '';
}
