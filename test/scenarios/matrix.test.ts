import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { verifies } from '../requirements.ts';
import { type Answer, type Door, jsonRpcDoor, okOf, restDoor, type StreamAnswer, type Wire } from './door.ts';
import { type NativeTaskDoor, nativeSessionDoor, nativeTaskDoor, type TaskDoor } from './native-door.ts';
import { Gates, scenarioAgent } from './scenario-agent.ts';

type State =
  | 'unknown'
  | 'SUBMITTED'
  | 'WORKING'
  | 'INPUT_REQUIRED'
  | 'AUTH_REQUIRED'
  | 'COMPLETED'
  | 'FAILED'
  | 'CANCELED'
  | 'REJECTED';
/** What every binding has. */
type Shared = 'send' | 'stream' | 'get' | 'list' | 'cancel';
type Operation = Shared | 'subscribe' | 'events' | 'resume';
type CancelPolicy = 'any' | 'submitted-only';

/**
 * The table of states: what each operation answers in each state, the same on every binding.
 *
 * Three columns are one side's alone. `subscribe` is A2A's: it tells what is to come, so it refuses a task to which
 * nothing can come. `events` is what native has in its place: it reads the log, which stands after the end too, so a
 * task that has ended is replayed whole and the stream ends by itself. `resume` is native's: a sign-in that happened
 * elsewhere has no message; a question cannot go on without an answer, so only AUTH_REQUIRED can be resumed.
 */
const table: Record<State, Record<Operation, string | Record<CancelPolicy, string>>> = {
  unknown: {
    send: 'TASK_NOT_FOUND',
    stream: 'TASK_NOT_FOUND',
    get: 'TASK_NOT_FOUND',
    list: 'not listed',
    cancel: 'TASK_NOT_FOUND',
    subscribe: 'TASK_NOT_FOUND',
    events: 'TASK_NOT_FOUND',
    resume: 'TASK_NOT_FOUND',
  },
  SUBMITTED: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    get: 'SUBMITTED',
    list: 'SUBMITTED',
    cancel: 'CANCELED',
    subscribe: 'stream from SUBMITTED',
    events: 'log so far, then what follows',
    resume: 'UNSUPPORTED_OPERATION',
  },
  WORKING: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    get: 'WORKING',
    list: 'WORKING',
    cancel: { any: 'CANCELED', 'submitted-only': 'TASK_NOT_CANCELABLE' },
    subscribe: 'stream from WORKING',
    events: 'log so far, then what follows',
    resume: 'UNSUPPORTED_OPERATION',
  },
  INPUT_REQUIRED: {
    send: 'COMPLETED',
    stream: 'stream to COMPLETED',
    get: 'INPUT_REQUIRED',
    list: 'INPUT_REQUIRED',
    cancel: { any: 'CANCELED', 'submitted-only': 'TASK_NOT_CANCELABLE' },
    subscribe: 'stream from INPUT_REQUIRED',
    events: 'log so far, then what follows',
    resume: 'UNSUPPORTED_OPERATION',
  },
  AUTH_REQUIRED: {
    send: 'COMPLETED',
    stream: 'stream to COMPLETED',
    get: 'AUTH_REQUIRED',
    list: 'AUTH_REQUIRED',
    cancel: { any: 'CANCELED', 'submitted-only': 'TASK_NOT_CANCELABLE' },
    subscribe: 'stream from AUTH_REQUIRED',
    events: 'log so far, then what follows',
    resume: 'goes on to COMPLETED',
  },
  COMPLETED: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    get: 'COMPLETED',
    list: 'COMPLETED',
    cancel: 'TASK_NOT_CANCELABLE',
    subscribe: 'UNSUPPORTED_OPERATION',
    events: 'whole log, ends at COMPLETED',
    resume: 'UNSUPPORTED_OPERATION',
  },
  FAILED: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    get: 'FAILED',
    list: 'FAILED',
    cancel: 'TASK_NOT_CANCELABLE',
    subscribe: 'UNSUPPORTED_OPERATION',
    events: 'whole log, ends at FAILED',
    resume: 'UNSUPPORTED_OPERATION',
  },
  CANCELED: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    get: 'CANCELED',
    list: 'CANCELED',
    cancel: 'TASK_NOT_CANCELABLE',
    subscribe: 'UNSUPPORTED_OPERATION',
    events: 'whole log, ends at CANCELED',
    resume: 'UNSUPPORTED_OPERATION',
  },
  REJECTED: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    get: 'REJECTED',
    list: 'REJECTED',
    cancel: 'TASK_NOT_CANCELABLE',
    subscribe: 'UNSUPPORTED_OPERATION',
    events: 'whole log, ends at REJECTED',
    resume: 'UNSUPPORTED_OPERATION',
  },
};

/** Its footnote: under `whenBusy: 'queue'` a busy task takes messages. Every other cell is as above. */
const whenQueued: Partial<Record<State, Partial<Record<Operation, string>>>> = {
  SUBMITTED: { send: 'SUBMITTED', stream: 'stream from SUBMITTED' },
  WORKING: { send: 'WORKING', stream: 'stream from WORKING' },
};

const bindings = [
  { make: jsonRpcDoor, operations: ['send', 'stream', 'get', 'list', 'cancel', 'subscribe'] },
  { make: restDoor, operations: ['send', 'stream', 'get', 'list', 'cancel', 'subscribe'] },
  { make: nativeTaskDoor, operations: ['send', 'stream', 'get', 'list', 'cancel', 'events', 'resume'] },
  { make: nativeSessionDoor, operations: ['send', 'stream'] },
] as const;

type AnyDoor = TaskDoor & Partial<Pick<Door, 'subscribe'> & Pick<NativeTaskDoor, 'events' | 'resume'>>;

interface Stage {
  readonly gates: Gates;
  /** Names of gates that a test waits at; no two tests share one. */
  readonly unique: string;
}

const later = { returnImmediately: true };

/** Brings a new task into a state; gives its id. */
async function taskIn(state: State, door: TaskDoor, stage: Stage): Promise<string> {
  const begin = async (skill: string, text: string, configuration?: object): Promise<string> =>
    okOf(await door.send({ skill, text, ...(configuration === undefined ? {} : { configuration }) })).task.id;
  const beginHeld = async (name: string): Promise<string> => {
    const id = await begin('hold', `${name}-${stage.unique}`, later);
    await stage.gates.arrival(`${name}-${stage.unique}`);
    return id;
  };
  switch (state) {
    case 'unknown':
      return '01234567-89ab-7def-8123-456789abcdef';
    case 'SUBMITTED':
      // Both slots are taken, so the next task waits.
      await beginHeld('hog-a');
      await beginHeld('hog-b');
      return begin('echo', 'waits', later);
    case 'WORKING':
      return beginHeld('work');
    case 'INPUT_REQUIRED':
      return begin('ask', 'x');
    case 'AUTH_REQUIRED':
      return begin('signin', 'x');
    case 'COMPLETED':
      return begin('echo', 'x');
    case 'FAILED':
      return begin('fail', 'x');
    case 'REJECTED':
      return begin('reject', 'x');
    case 'CANCELED': {
      // A task that waits for a slot can be canceled under both policies.
      const waiting = await taskIn('SUBMITTED', door, stage);
      okOf(await door.cancel(waiting));
      return waiting;
    }
  }
}

/** Lets everything go that the test held, the turn of a queued message too. */
function leave({ gates, unique }: Stage): void {
  for (const name of ['hog-a', 'hog-b', 'work', 'next']) gates.open(`${name}-${unique}`);
}

interface Place {
  readonly state: State;
  readonly door: AnyDoor;
  readonly id: string;
  readonly stage: Stage;
}

async function perform(operation: Operation, { state, door, id, stage }: Place): Promise<string> {
  const parts = [state === 'INPUT_REQUIRED' ? { data: { count: 3 } } : { text: `next-${stage.unique}` }];
  const message = { taskId: id, parts };
  switch (operation) {
    case 'send':
      return stateOf(await door.send({ ...message, ...(isBusy(state) ? { configuration: later } : {}) }));
    case 'stream':
      return streamOf(await door.stream(message), isBusy(state) ? 'first' : 'last');
    case 'get':
      return stateOf(await door.get(id));
    case 'list': {
      const tasks: readonly Wire[] = okOf(await door.list({ pageSize: 100 })).tasks;
      const listed = tasks.find((task) => task.id === id);
      return listed === undefined ? 'not listed' : nameOf(listed.status.state);
    }
    case 'cancel':
      return stateOf(await door.cancel(id));
    case 'subscribe':
      return streamOf(await called(door.subscribe)(id), 'first');
    case 'events':
      return logOf(await called(door.events)(id), await headSeq(door, id));
    case 'resume': {
      const answer = await called(door.resume)(id);
      return answer.ok ? `goes on to ${await endOf(await called(door.events)(id))}` : answer.reason;
    }
  }
}

function isBusy(state: State): boolean {
  return state === 'SUBMITTED' || state === 'WORKING';
}

function called<Method>(method: Method | undefined): Method {
  if (method === undefined) throw new Error('the binding has no such operation');
  return method;
}

function nameOf(state: unknown): string {
  return String(state).replace('TASK_STATE_', '');
}

function stateOf(answer: Answer): string {
  if (!answer.ok) return answer.reason;
  return nameOf((answer.value.task ?? answer.value).status.state);
}

/** The state that a frame tells: of a snapshot or an update, in A2A's words or in native ones. */
function stateIn(value: Wire): string | undefined {
  const state = (value.task ?? value.statusUpdate ?? value).status?.state ?? value.state;
  return state === undefined ? undefined : nameOf(state);
}

/** The state with which a stream begins, or the one with which it ends by itself. */
async function streamOf(answer: StreamAnswer, which: 'first' | 'last'): Promise<string> {
  if (!answer.ok) return answer.reason;
  const states: (string | undefined)[] = [];
  for await (const { value } of answer.stream.frames) {
    states.push(stateIn(value));
    if (which === 'first') break;
  }
  answer.stream.close();
  return which === 'first'
    ? `stream from ${states[0]}`
    : `stream to ${states.findLast((state) => state !== undefined)}`;
}

async function endOf(answer: StreamAnswer): Promise<string> {
  return (await streamOf(answer, 'last')).replace('stream to ', '');
}

async function headSeq(door: TaskDoor, id: string): Promise<number> {
  const answer = await door.get(id);
  return answer.ok ? answer.value.seq : 0;
}

/** How a log reads: from its first event to the one that was its last, and whether the stream then ends or stays open. */
async function logOf(answer: StreamAnswer, head: number): Promise<string> {
  if (!answer.ok) return answer.reason;
  const seqs: number[] = [];
  let state: string | undefined;
  let isOpen = false;
  for await (const { value } of answer.stream.frames) {
    seqs.push(value.seq);
    state = stateIn(value) ?? state;
    isOpen = value.seq >= head && !['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'].includes(state ?? '');
    if (isOpen) break;
  }
  answer.stream.close();
  if (seqs.some((seq, index) => seq !== index + 1) || seqs.at(-1) !== head) return `log with holes: ${seqs}`;
  return isOpen ? 'log so far, then what follows' : `whole log, ends at ${state}`;
}

async function checkCell(cell: {
  readonly state: State;
  readonly operation: Operation;
  readonly expected: string;
  readonly door: AnyDoor;
  readonly stage: Stage;
}): Promise<void> {
  const { state, operation, expected, door, stage } = cell;
  const id = await taskIn(state, door, stage);
  const before = await door.get(id);
  expect(await perform(operation, { state, door, id, stage })).toBe(expected);
  if (/^(TASK_NOT_|UNSUPPORTED)/.test(expected))
    expect(await door.get(id), 'a refusal changes nothing').toEqual(before);
  leave(stage);
}

const policies = [
  { cancel: 'any', whenBusy: 'reject' },
  { cancel: 'submitted-only', whenBusy: 'reject' },
  { cancel: 'any', whenBusy: 'queue' },
] as const;

describe.each(policies)('cancel: $cancel, whenBusy: $whenBusy', (policy) => {
  const gates = new Gates();
  let world: ServerWorld;
  beforeAll(async () => {
    world = await startWorld({
      agents: [scenarioAgent(gates, policy)],
      config: { runs: { concurrency: 2, cancelGraceSecs: 0.05 } },
    });
  });
  afterAll(() => world.close());

  describe.each(bindings)('$make.name', ({ make, operations }) => {
    describe.each(Object.keys(policy.whenBusy === 'queue' ? whenQueued : table) as State[])('%s', (state) => {
      test.each(operations)(
        `${verifies('states.matrix', 'cancel.policy', 'cancel.not-cancelable', 'subscribe.terminal-refused', 'send.terminal-refused')} %s`,
        async (operation) => {
          const queued = policy.whenBusy === 'queue' ? whenQueued[state]?.[operation] : undefined;
          const cell = queued ?? table[state][operation];
          const expected = typeof cell === 'string' ? cell : cell[policy.cancel];
          const unique = `${make.name}-${state}-${operation}`;
          await checkCell({ state, operation, expected, door: make({ url: world.url }), stage: { gates, unique } });
        },
      );
    });
  });
});
