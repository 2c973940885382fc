import { assert } from '../../base/assert.ts';
import type { Role } from '../../model/message.ts';
import { TASK_STATE_NUMBERS, type TaskState } from '../../model/task.ts';

/** Wire names of enum values by their number; number 0 is the one that says nothing. */
export const TASK_STATE_NAMES = [
  'TASK_STATE_UNSPECIFIED',
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const;
export const ROLE_NAMES = ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'] as const;

const stateByName = new Map<string, TaskState>(
  (Object.keys(TASK_STATE_NUMBERS) as TaskState[]).map((state) => [taskStateName(state), state]),
);

export function taskStateName(state: TaskState): string {
  const name = TASK_STATE_NAMES[TASK_STATE_NUMBERS[state]];
  assert(name !== undefined, 'every state has a wire name');
  return name;
}

/** The state of a wire name; undefined for `TASK_STATE_UNSPECIFIED` and for names of no state. */
export function taskStateOf(name: string): TaskState | undefined {
  return stateByName.get(name);
}

export function roleName(role: Role): string {
  return role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT';
}

/** Our keys in A2A metadata and the URI of our card extension. Peers read them: they never change. */
export const CORRELATION_KEY = 'https://holdfast.dev/a2a/v1/correlation';
export const DISCARDED_KEY = 'https://holdfast.dev/a2a/v1/discarded';
export const SKILLS_EXTENSION_URI = 'https://holdfast.dev/a2a/v1/skills';
