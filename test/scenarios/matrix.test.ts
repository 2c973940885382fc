import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { verifies } from '../requirements.ts';
import { type Answer, type Door, doorMakers, okOf, type StreamAnswer } from './door.ts';
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
type Operation = 'send' | 'stream' | 'cancel' | 'subscribe';

/** DESIGN's table of states, word by word: what each operation answers in each state. */
const table: Record<State, Record<Operation, string | Record<'any' | 'submitted-only', string>>> = {
  unknown: { send: 'TASK_NOT_FOUND', stream: 'TASK_NOT_FOUND', cancel: 'TASK_NOT_FOUND', subscribe: 'TASK_NOT_FOUND' },
  SUBMITTED: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    cancel: 'CANCELED',
    subscribe: 'stream',
  },
  WORKING: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    cancel: { any: 'CANCELED', 'submitted-only': 'TASK_NOT_CANCELABLE' },
    subscribe: 'stream',
  },
  INPUT_REQUIRED: {
    send: 'COMPLETED',
    stream: 'stream',
    cancel: { any: 'CANCELED', 'submitted-only': 'TASK_NOT_CANCELABLE' },
    subscribe: 'stream',
  },
  AUTH_REQUIRED: {
    send: 'COMPLETED',
    stream: 'stream',
    cancel: { any: 'CANCELED', 'submitted-only': 'TASK_NOT_CANCELABLE' },
    subscribe: 'stream',
  },
  COMPLETED: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    cancel: 'TASK_NOT_CANCELABLE',
    subscribe: 'UNSUPPORTED_OPERATION',
  },
  FAILED: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    cancel: 'TASK_NOT_CANCELABLE',
    subscribe: 'UNSUPPORTED_OPERATION',
  },
  CANCELED: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    cancel: 'TASK_NOT_CANCELABLE',
    subscribe: 'UNSUPPORTED_OPERATION',
  },
  REJECTED: {
    send: 'UNSUPPORTED_OPERATION',
    stream: 'UNSUPPORTED_OPERATION',
    cancel: 'TASK_NOT_CANCELABLE',
    subscribe: 'UNSUPPORTED_OPERATION',
  },
};

const later = { returnImmediately: true };

/** Brings a new task into a state; gives its id. */
async function taskIn(
  state: State,
  door: Door,
  world: { readonly gates: Gates; readonly unique: string },
): Promise<string> {
  const begin = async (skill: string, text: string, configuration?: object): Promise<string> =>
    okOf(await door.send({ skill, text, ...(configuration === undefined ? {} : { configuration }) })).task.id;
  switch (state) {
    case 'unknown':
      return '01234567-89ab-7def-8123-456789abcdef';
    case 'SUBMITTED': {
      // Both slots are taken, so the next task waits.
      const hogs = [`hog-a-${world.unique}`, `hog-b-${world.unique}`];
      for (const hog of hogs) {
        await begin('hold', hog, later);
        await world.gates.arrival(hog);
      }
      return begin('echo', 'waits', later);
    }
    case 'WORKING': {
      const id = await begin('hold', `work-${world.unique}`, later);
      await world.gates.arrival(`work-${world.unique}`);
      return id;
    }
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
      const hogs = [`cancel-${world.unique}`];
      const id = await begin('hold', hogs[0] ?? '', later);
      await world.gates.arrival(hogs[0] ?? '');
      // Under submitted-only a working task cannot be canceled; one that waits can.
      const answer = await door.cancel(id);
      if (answer.ok) return id;
      const second = `cancel-b-${world.unique}`;
      await begin('hold', second, later);
      await world.gates.arrival(second);
      const waiting = await begin('echo', 'waits', later);
      okOf(await door.cancel(waiting));
      return waiting;
    }
  }
}

function stateOf(answer: Answer): string {
  if (!answer.ok) return answer.reason;
  const task = answer.value.task ?? answer.value;
  return String(task.status.state).replace('TASK_STATE_', '');
}

function streamOf(answer: StreamAnswer): string {
  if (!answer.ok) return answer.reason;
  answer.stream.close();
  return 'stream';
}

async function perform(operation: Operation, state: State, door: Door, id: string): Promise<string> {
  const message = { taskId: id, ...(state === 'INPUT_REQUIRED' ? { parts: [{ data: { count: 3 } }] } : {}) };
  switch (operation) {
    case 'send':
      return stateOf(await door.send(message));
    case 'stream':
      return streamOf(await door.stream(message));
    case 'cancel':
      return stateOf(await door.cancel(id));
    case 'subscribe':
      return streamOf(await door.subscribe(id));
  }
}

describe.each(['any', 'submitted-only'] as const)('cancel: %s', (cancel) => {
  describe.each(doorMakers)('%o', (makeDoor) => {
    let unique = 0;
    describe.each(Object.keys(table) as State[])('%s', (state) => {
      let world: ServerWorld;
      let gates: Gates;
      beforeAll(async () => {
        gates = new Gates();
        world = await startWorld({
          agents: [scenarioAgent(gates, { cancel })],
          config: { runs: { concurrency: 2, cancelGraceSecs: 0.05 } },
        });
      });
      afterAll(() => world.close());

      test.each(['subscribe', 'send', 'stream', 'cancel'] as const)(
        `${verifies('states.matrix', 'cancel.policy', 'cancel.not-cancelable', 'subscribe.terminal-refused', 'send.terminal-refused')} %s`,
        async (operation) => {
          unique += 1;
          const door = makeDoor({ url: world.url });
          const id = await taskIn(state, door, { gates, unique: String(unique) });
          const before = state === 'unknown' ? undefined : okOf(await door.get(id));
          const cell = table[state][operation];
          const expected = typeof cell === 'string' ? cell : cell[cancel];
          expect(await perform(operation, state, door, id)).toBe(expected);
          if (before !== undefined && /^[A-Z_]+_[A-Z]+$/.test(expected) && !expected.endsWith('REQUIRED')) {
            expect(okOf(await door.get(id)), 'a refusal changes nothing').toEqual(before);
          }
          for (const gate of [
            `hog-a-${unique}`,
            `hog-b-${unique}`,
            `work-${unique}`,
            `cancel-${unique}`,
            `cancel-b-${unique}`,
          ])
            gates.open(gate);
        },
      );
    });
  });
});
