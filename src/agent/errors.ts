import type { Json } from '../base/json.ts';

/** Ends the task REJECTED; the text is for the client. */
export class Reject extends Error {
  override readonly name = 'Reject';
}

/** Ends the task FAILED; the text is for the client, and so is the code. */
export class Fail extends Error {
  override readonly name = 'Fail';
  readonly code: string | undefined;

  constructor(text: string, options: { readonly code?: string } = {}) {
    super(text);
    this.code = options.code;
  }
}

/** `ask` or `authorize` got no answer within its timeout. */
export class Expired extends Error {
  override readonly name = 'Expired';
}

/** The caller declined to answer. */
export class Declined extends Error {
  override readonly name = 'Declined';
}

/** An at-most-once step had begun when a worker was lost, and nothing says how it ended. */
export class StepUnknown extends Error {
  override readonly name = 'StepUnknown';
  readonly step: string;

  constructor(step: string) {
    super(`Step "${step}" began before a crash and was not recorded; whether it took effect is unknown.`);
    this.step = step;
  }
}

/** Something in the agent's own code breaks a rule of its API; the page under `docs/errors/` says what to write instead. */
export class AgentCodeError extends Error {
  override readonly name = 'AgentCodeError';
  readonly page: string;

  constructor(page: string, text: string) {
    super(text);
    this.page = page;
  }
}

const interruption = Symbol.for('holdfast.interruption');

/** What `inputRequired` and `authRequired` return: the turn ends here, the next message begins a new one. */
export interface Interruption {
  readonly [interruption]: true;
  readonly state: 'input-required' | 'auth-required';
  readonly text: string;
  readonly data?: Json;
}

/** Ends the turn and asks the caller for more; the next message begins a new turn of the same task. */
export function inputRequired(text: string, data?: Json): Interruption {
  return { [interruption]: true, state: 'input-required', text, ...(data === undefined ? {} : { data }) };
}

/** Ends the turn and asks the caller to sign in somewhere; a message or native `/resume` begins the next turn. */
export function authRequired(text: string, data?: Json): Interruption {
  return { [interruption]: true, state: 'auth-required', text, ...(data === undefined ? {} : { data }) };
}

export function isInterruption(value: unknown): value is Interruption {
  return typeof value === 'object' && value !== null && interruption in value;
}

const completion = Symbol.for('holdfast.completion');

/** What `completed` returns: the task ends COMPLETED with these words as its status message. */
export interface Completion {
  readonly [completion]: true;
  readonly text: string;
  readonly data?: Json;
}

/**
 * Completes with a last word: the text becomes the message of the COMPLETED status, and no artifact `result` is made.
 * For work whose outcome is in the artifacts already, or was only a deed.
 */
export function completed(text: string, data?: Json): Completion {
  return { [completion]: true, text, ...(data === undefined ? {} : { data }) };
}

export function isCompletion(value: unknown): value is Completion {
  return typeof value === 'object' && value !== null && completion in value;
}
