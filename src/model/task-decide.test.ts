import { describe, expect, test } from 'vitest';
import {
  agentText,
  askEntry,
  continueRequest,
  signInEntry,
  sleepEntry,
  taskView,
  userParts,
  userText,
  VIEW_NOW,
  viewPolicy,
  viewTimes,
} from '../testing/task-views.ts';
import type { NewEvent } from './event.ts';
import type { RunId } from './ids.ts';
import type { TaskState } from './task.ts';
import { type Decision, decideCancel, decideContinue, decideResume, refusal } from './task-decide.ts';
import type { AgentPolicy } from './task-policy.ts';
import type { TaskWrite } from './task-write.ts';

const TERMINAL = ['completed', 'failed', 'canceled', 'rejected'] as const satisfies readonly TaskState[];
const LIVE = ['submitted', 'working', 'input-required', 'auth-required'] as const satisfies readonly TaskState[];
const queueing: AgentPolicy = { ...viewPolicy, whenBusy: 'queue' };
const submittedOnly: AgentPolicy = { ...viewPolicy, cancel: 'submitted-only' };

function writeOf(decision: Decision): TaskWrite {
  if (decision.kind !== 'write') throw new Error(`expected a write, got ${JSON.stringify(decision)}`);
  return decision.write;
}

function kindsOf(events: readonly NewEvent[]): readonly string[] {
  return events.map((event) => (event.kind === 'status-changed' ? `status ${event.state}` : event.kind));
}

describe('a message to a task', () => {
  const hello = userText('m2', 'hello');

  test.each(TERMINAL)('%s: refused, and says where to go', (state) => {
    for (const policy of [viewPolicy, queueing]) {
      const decision = decideContinue(taskView(state), continueRequest(hello, { policy }));
      expect(decision).toMatchObject({ kind: 'refused', code: 'unsupported_operation' });
      expect(decision).toHaveProperty('detail.message', expect.stringContaining('contextId'));
    }
  });

  test.each(['submitted', 'working'] as const)('%s: refused by an agent that takes one message at a time', (state) => {
    expect(decideContinue(taskView(state), continueRequest(hello))).toMatchObject({
      kind: 'refused',
      code: 'unsupported_operation',
      detail: { metadata: { taskId: 'task-1', state } },
    });
  });

  test.each(['submitted', 'working'] as const)('%s: queued as the next turn by an agent that queues', (state) => {
    const decision = decideContinue(taskView(state, { queued: 1 }), continueRequest(hello, { policy: queueing }));
    expect(decision).toMatchObject({ kind: 'write', turnNo: 3 });
    const write = writeOf(decision);
    expect(kindsOf(write.events)).toEqual(['message-received']);
    expect(write.turns).toMatchObject([
      { kind: 'enqueue', turn: { turnNo: 3, messageId: 'm2', agentVersion: 'v2', skill: 'default' } },
    ]);
    expect([write.runs, write.revokeFence, write.deadline]).toEqual([undefined, undefined, undefined]);
  });

  test('the queue has an end, and says when to come back', () => {
    const decision = decideContinue(
      taskView('working', { queued: 2 }),
      continueRequest(hello, { policy: queueing, queuedTurnsMax: 2 }),
    );
    expect(decision).toMatchObject({ kind: 'refused', code: 'overloaded', detail: { retryAfterSeconds: 5 } });
  });

  test.each(['input-required', 'auth-required'] as const)(
    '%s after the handler ended its turn: the next begins',
    (state) => {
      const view = taskView(state, { run: 'none' });
      const inputs: readonly NewEvent[] = [{ kind: 'artifact-discarded', artifactId: 'stands for an input' as never }];
      const decision = decideContinue(view, continueRequest(hello, { inputs }));
      const write = writeOf(decision);
      expect(decision).toMatchObject({ turnNo: 2 });
      expect(kindsOf(write.events)).toEqual(['message-received', 'artifact-discarded', 'status working']);
      expect(write.turns).toMatchObject([{ kind: 'begin', turn: { turnNo: 2, messageOrdinal: 1 } }]);
      expect(write.runs).toEqual([{ kind: 'queue', run: { id: 'run-8', turnNo: 2, attempt: 1, delayMs: 0 } }]);
      expect(write.deadline).toEqual({ kind: 'queued', inMs: viewTimes.queuedMaxMs });
    },
  );

  test('an agent that keeps no content has its message sealed into the turn', () => {
    const input = Uint8Array.of(1, 2);
    const write = writeOf(
      decideContinue(taskView('input-required', { run: 'none' }), continueRequest(hello, { input })),
    );
    expect(write.turns).toMatchObject([{ kind: 'begin', turn: { input } }]);
  });

  test('without a limit for the queue a run waits without a deadline', () => {
    const times = { ...viewTimes, queuedMaxMs: 0 };
    const write = writeOf(decideContinue(taskView('input-required'), continueRequest(hello, { times })));
    expect(write.deadline).toBe('none');
  });
});

describe('an answer', () => {
  const schema = { type: 'number', minimum: 1 };
  const asked = taskView('input-required', { open: [askEntry('ask:How many?', { schema })] });

  test('that fits settles the parked run and queues the next attempt of the same turn', () => {
    const decision = decideContinue(asked, continueRequest(userText('m2', ' 3 ')));
    const write = writeOf(decision);
    expect(decision).toMatchObject({ turnNo: 1 });
    expect(kindsOf(write.events)).toEqual(['message-received', 'question-answered', 'run-settled', 'status working']);
    expect(write.events[1]).toEqual({ kind: 'question-answered', askId: 'ask:How many?', how: 'answered' });
    expect(write.events[2]).toMatchObject({ outcome: 'parked', runId: 'run-7' });
    expect(write.journal).toMatchObject([{ key: 'ask:How many?', state: 'done', result: '3' }]);
    expect(write.runs).toEqual([
      { kind: 'settle', runNo: 7, outcome: 'parked' },
      { kind: 'queue', run: { id: 'run-8', turnNo: 1, attempt: 2, delayMs: 0 } },
    ]);
    expect(write.turns).toBeUndefined();
  });

  test('whose text does not fit is kept, the question is put again with the reason, and no run starts', () => {
    const write = writeOf(decideContinue(asked, continueRequest(userText('m2', 'many'))));
    expect(kindsOf(write.events)).toEqual(['message-received', 'status input-required']);
    const [, status] = write.events;
    expect(status).toMatchObject({ message: { messageId: 'status-1', role: 'agent' } });
    expect(JSON.stringify(status)).toContain('does not fit');
    expect(JSON.stringify(status)).toContain('"askId":"ask:How many?"');
    expect([write.runs, write.journal, write.deadline, write.revokeFence]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('whose data does not fit is refused by name, and changes nothing', () => {
    const bad = userParts('m2', [{ kind: 'data', data: 0 }]);
    expect(decideContinue(asked, continueRequest(bad))).toMatchObject({
      kind: 'refused',
      code: 'invalid_argument',
      detail: { violations: [{ field: 'message.parts[0].data' }] },
    });
  });

  test('that declines is told to the handler', () => {
    const no = userParts('m2', [{ kind: 'data', data: { askId: 'ask:How many?', action: 'decline' } }]);
    const write = writeOf(decideContinue(asked, continueRequest(no)));
    expect(write.events[1]).toMatchObject({ how: 'declined' });
    expect(write.journal).toMatchObject([{ state: 'declined' }]);
    expect(write.journal?.[0]).not.toHaveProperty('result');
  });

  test('goes to the question it names, else to the oldest', () => {
    const view = taskView('input-required', {
      open: [askEntry('ask:a'), sleepEntry('sleep:1h', VIEW_NOW), askEntry('ask:b')],
    });
    const named = userParts('m2', [{ kind: 'data', data: { askId: 'ask:b', content: 'x' } }]);
    expect(writeOf(decideContinue(view, continueRequest(named))).journal).toMatchObject([
      { key: 'ask:b', result: '"x"' },
    ]);
    expect(writeOf(decideContinue(view, continueRequest(userText('m2', 'y')))).journal).toMatchObject([
      { key: 'ask:a' },
    ]);
    const unknown = userParts('m2', [{ kind: 'data', data: { askId: 'ask:c' } }]);
    expect(decideContinue(view, continueRequest(unknown))).toMatchObject({
      kind: 'refused',
      code: 'invalid_argument',
      detail: { violations: [{ field: 'message.parts[0].data.askId' }] },
    });
  });

  test('clears a sign-in, whatever it says', () => {
    const view = taskView('auth-required', { open: [signInEntry('authorize:oauth')] });
    const write = writeOf(decideContinue(view, continueRequest(userText('m2', 'done'))));
    expect(kindsOf(write.events)).toEqual(['message-received', 'question-answered', 'run-settled', 'status working']);
    expect(write.journal).toMatchObject([{ kind: 'authorize', state: 'done', result: 'null' }]);
  });

  test('never reaches a turn that still works, though its question was asked before', () => {
    const view = taskView('working', { open: [askEntry('ask:a')] });
    const write = writeOf(decideContinue(view, continueRequest(userText('m2', 'y'), { policy: queueing })));
    expect(write.turns).toMatchObject([{ kind: 'enqueue' }]);
    expect(write.journal).toBeUndefined();
  });
});

describe('a cancel', () => {
  const by = 'issuer|ann';

  test.each(TERMINAL)('of a %s task is refused', (state) => {
    for (const policy of [viewPolicy, submittedOnly]) {
      const decision = decideCancel(taskView(state), { by, policy, times: viewTimes });
      expect(decision).toMatchObject({ kind: 'refused', code: 'task_not_cancelable' });
    }
  });

  test.each([
    ['submitted', 'queued'],
    ['working', 'queued'],
    ['working', 'waiting'],
    ['input-required', 'waiting'],
    ['input-required', 'none'],
    ['auth-required', 'waiting'],
    ['auth-required', 'none'],
  ] as const)('of a %s task whose run is %s ends it in the same transaction', (state, run) => {
    const view = taskView(state, { run, queued: 1 });
    const write = writeOf(decideCancel(view, { by, policy: viewPolicy, times: viewTimes }));
    const settled = run === 'none' ? [] : ['run-settled'];
    expect(kindsOf(write.events)).toEqual(['cancel-requested', ...settled, 'message-dropped', 'status canceled']);
    expect([write.revokeFence, write.deadline]).toEqual([true, 'none']);
    const settledTurn = run === 'none' ? [] : [{ kind: 'settle', turnNo: 1 }];
    expect(write.turns).toEqual([...settledTurn, { kind: 'drop', turnNo: 2 }]);
  });

  test('of a task at work asks its worker, and a deadline makes sure', () => {
    const view = taskView('working', { queued: 1 });
    const write = writeOf(decideCancel(view, { by, policy: viewPolicy, times: viewTimes }));
    expect(write).toEqual({ events: [{ kind: 'cancel-requested', by }], deadline: { kind: 'cancel', inMs: 2_000 } });
  });

  test('asked twice is asked once', () => {
    const view = taskView('working', { task: { cancelAt: VIEW_NOW, cancelBy: by } });
    expect(decideCancel(view, { by, policy: viewPolicy, times: viewTimes })).toEqual({ kind: 'unchanged' });
  });

  test('under "submitted-only" reaches a task before it starts, and no later', () => {
    for (const state of LIVE) {
      const decision = decideCancel(taskView(state), { by, policy: submittedOnly, times: viewTimes });
      if (state === 'submitted') expect(writeOf(decision).events.at(-1)).toMatchObject({ state: 'canceled' });
      else expect(decision).toMatchObject({ kind: 'refused', code: 'task_not_cancelable' });
    }
  });
});

describe('a resume', () => {
  const request = continueRequest(agentText('resumed'));

  test.each(['submitted', 'working', 'input-required', ...TERMINAL] as const)('of a %s task is refused', (state) => {
    expect(decideResume(taskView(state), request)).toMatchObject({ kind: 'refused', code: 'unsupported_operation' });
  });

  test('of a parked sign-in goes on with the turn, and needs no message', () => {
    const write = writeOf(decideResume(taskView('auth-required', { open: [signInEntry('authorize:oauth')] }), request));
    expect(kindsOf(write.events)).toEqual(['question-answered', 'run-settled', 'status working']);
    expect(write.journal).toMatchObject([{ key: 'authorize:oauth', state: 'done', result: 'null' }]);
    expect(write.runs).toMatchObject([{ outcome: 'parked' }, { run: { attempt: 2, turnNo: 1 } }]);
  });

  test('of a turn that ended waiting for a sign-in begins the next', () => {
    const write = writeOf(decideResume(taskView('auth-required', { run: 'none' }), request));
    expect(write.turns).toMatchObject([{ kind: 'begin', turn: { turnNo: 2 } }]);
    expect(write.runs).toMatchObject([{ run: { id: 'run-8' as RunId, attempt: 1, turnNo: 2 } }]);
  });
});

test('a refusal keeps its code and its words on the way to a door', () => {
  const decision = decideContinue(taskView('completed'), continueRequest(userText('m2', 'hello')));
  if (decision.kind !== 'refused') throw new Error('a completed task takes no message');
  const error = refusal(decision);
  expect([error.code, error.message]).toEqual(['unsupported_operation', decision.detail.message]);
});
