import { describe, expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import {
  agentText,
  askEntry,
  signInEntry,
  sleepEntry,
  taskView,
  VIEW_NOW,
  type ViewOptions,
  viewPolicy,
  viewTimes,
} from '../testing/task-views.ts';
import type { NewEvent } from './event.ts';
import type { RunId } from './ids.ts';
import { decideDeadline, decideLost, decideSettle, decideTimer, type Ending, type RunFacts } from './run-decide.ts';
import type { DeadlineKind } from './task.ts';
import { type AgentPolicy, crashBackoffMs } from './task-policy.ts';

const runId = 'run-8' as RunId;
const facts: RunFacts = { policy: viewPolicy, times: viewTimes, runId };
const message = agentText;

const failed = (retry: boolean): Ending => ({
  kind: 'failed',
  reason: 'boom',
  message: message('It failed.'),
  errorId: 'e1',
  retry,
});
const parked: Ending = {
  kind: 'parked',
  suspensions: [{ turnNo: 1 as never, ...askEntry('ask:Ship?') }],
  events: [{ kind: 'question-asked', askId: 'ask:Ship?', question: {} }],
  wake: { key: 'ask:Ship?' },
  status: { state: 'input-required', message: message('Ship it?') },
};
const endings: Readonly<Record<string, Ending>> = {
  succeeded: { kind: 'succeeded' },
  'succeeded with a word': { kind: 'succeeded', message: message('Done.') },
  failed: failed(false),
  'failed, to be tried again': failed(true),
  rejected: { kind: 'rejected', message: message('No.') },
  interrupted: { kind: 'interrupted', state: 'input-required', message: message('Which?') },
  parked,
  'handed-back': { kind: 'handed-back' },
};

function kindsOf(events: readonly NewEvent[]): readonly string[] {
  return events.map((event) => (event.kind === 'status-changed' ? `status ${event.state}` : event.kind));
}

function working(options: ViewOptions = {}) {
  return taskView('working', options);
}

describe('the end of a run', () => {
  test('a success completes the task, with its last word', () => {
    const write = decideSettle(working(), endings['succeeded with a word']!, facts);
    expect(kindsOf(write.events)).toEqual(['run-settled', 'status completed']);
    expect(write.events[1]).toMatchObject({ message: message('Done.') });
    expect(write.runs).toEqual([{ kind: 'settle', runNo: 7, outcome: 'succeeded' }]);
    expect(write.turns).toEqual([{ kind: 'settle', turnNo: 1 }]);
    expect([write.revokeFence, write.deadline]).toEqual([true, 'none']);
  });

  test('a success with a message waiting begins the next turn, and the task goes on working', () => {
    const write = decideSettle(working({ queued: 2 }), endings.succeeded!, facts);
    expect(kindsOf(write.events)).toEqual(['run-settled']);
    expect(write.turns).toEqual([
      { kind: 'settle', turnNo: 1 },
      { kind: 'activate', turnNo: 2 },
    ]);
    expect(write.runs?.[1]).toEqual({ kind: 'queue', run: { id: runId, turnNo: 2, attempt: 1, delayMs: 0 } });
    expect([write.revokeFence, write.deadline]).toEqual([true, { kind: 'queued', inMs: 30_000 }]);
    const said = decideSettle(working({ queued: 1 }), endings['succeeded with a word']!, facts);
    expect(kindsOf(said.events)).toEqual(['run-settled', 'status working']);
  });

  test.each(['failed', 'rejected'] as const)('%s ends the task and drops what waits', (name) => {
    const write = decideSettle(working({ queued: 2 }), endings[name]!, facts);
    expect(kindsOf(write.events)).toEqual(['run-settled', 'message-dropped', 'message-dropped', `status ${name}`]);
    expect(write.turns).toMatchObject([{ kind: 'settle' }, { kind: 'drop', turnNo: 2 }, { kind: 'drop', turnNo: 3 }]);
  });

  test('a failure says its reason to the run and its safe text to the client', () => {
    const write = decideSettle(working(), failed(false), facts);
    expect(write.runs).toEqual([{ kind: 'settle', runNo: 7, outcome: 'failed', reason: 'boom' }]);
    expect(write.events[1]).toMatchObject({ errorId: 'e1', message: message('It failed.') });
  });

  test('a failure of an agent that retries runs again, later each time, and not for ever', () => {
    for (let attempts = 1; attempts <= viewPolicy.crashesMax; attempts += 1) {
      const write = decideSettle(working({ turn: { attempts } }), failed(true), facts);
      expect(kindsOf(write.events)).toEqual(['run-settled']);
      expect(write.runs?.[1]).toMatchObject({ run: { delayMs: crashBackoffMs(attempts) } });
      expect(write.turns, 'an error is no crash').toEqual([]);
    }
    const last = decideSettle(working({ turn: { attempts: viewPolicy.crashesMax + 1 } }), failed(true), facts);
    expect(kindsOf(last.events)).toEqual(['run-settled', 'status failed']);
  });

  test('an interrupted turn is over; what is queued stays', () => {
    const write = decideSettle(working({ queued: 1 }), endings.interrupted!, facts);
    expect(kindsOf(write.events)).toEqual(['run-settled', 'status input-required']);
    expect(write.turns).toEqual([{ kind: 'settle', turnNo: 1 }]);
    expect([write.revokeFence, write.deadline]).toEqual([true, { kind: 'interrupted', inMs: 600_000 }]);
  });

  test('a parked turn keeps its run, and says what it waits for', () => {
    const write = decideSettle(working(), parked, facts);
    expect(kindsOf(write.events)).toEqual(['question-asked', 'status input-required']);
    expect(write.runs).toEqual([{ kind: 'park', runNo: 7, wakeKey: 'ask:Ship?' }]);
    expect(write.turns).toBeUndefined();
    expect([write.revokeFence, write.deadline]).toEqual([true, { kind: 'interrupted', inMs: 600_000 }]);
  });

  test('a sleep alone leaves the task working, without a deadline', () => {
    const dueAt = instant(VIEW_NOW + 3_600_000);
    const write = decideSettle(working(), { kind: 'parked', suspensions: [], events: [], wake: { at: dueAt } }, facts);
    expect(write).toMatchObject({ events: [], runs: [{ kind: 'park', runNo: 7, wakeAt: dueAt }], deadline: 'none' });
  });

  test('a run that was handed back goes to another worker, free of charge', () => {
    const write = decideSettle(working({ turn: { crashes: 2 } }), { kind: 'handed-back' }, facts);
    expect(kindsOf(write.events)).toEqual(['run-settled']);
    expect(write.runs).toMatchObject([{ outcome: 'handed-back' }, { run: { attempt: 2, delayMs: 0 } }]);
    expect([write.turns, write.revokeFence]).toEqual([[], true]);
  });

  test.each(Object.keys(endings))('after a cancel request, %s ends canceled', (name) => {
    const view = working({ queued: 1, task: { cancelAt: VIEW_NOW, cancelBy: 'ann' } });
    const write = decideSettle(view, endings[name]!, facts);
    expect(kindsOf(write.events)).toEqual(['run-settled', 'message-dropped', 'status canceled']);
    const kept = ['succeeded', 'failed', 'rejected'].find((outcome) => name.startsWith(outcome)) ?? 'canceled';
    expect(write.runs).toMatchObject([{ kind: 'settle', runNo: 7, outcome: kept }]);
    expect([write.journal, write.revokeFence, write.deadline]).toEqual([undefined, true, 'none']);
  });

  test('a terminal task has no run to settle', () => {
    expect(() => decideSettle(taskView('completed'), { kind: 'succeeded' }, facts)).toThrow('terminal');
  });
});

describe('a lost worker', () => {
  const lost = (options: ViewOptions = {}, policy: AgentPolicy = viewPolicy) =>
    decideLost(working(options), { ...facts, policy, message });

  test('charges one crash and runs the turn again, later each time', () => {
    const delays = Array.from({ length: 5 }, (_, crashes) => {
      const write = lost({ turn: { crashes } });
      expect(write?.turns).toEqual([{ kind: 'charge-crash', turnNo: 1 }]);
      expect(write?.revokeFence).toBe(true);
      const queued = write?.runs?.[1];
      return queued?.kind === 'queue' ? queued.run.delayMs : undefined;
    });
    expect(delays).toEqual([0, 1_000, 5_000, 25_000, 25_000]);
  });

  test('once too often fails the task', () => {
    const write = lost({ turn: { crashes: 5 }, queued: 1 });
    expect(kindsOf(write?.events ?? [])).toEqual(['run-settled', 'message-dropped', 'status failed']);
    expect(write?.runs).toMatchObject([{ outcome: 'lost', reason: 'The worker of this task was lost 6 times.' }]);
  });

  test('fails a task whose agent does not run twice', () => {
    const write = lost({}, { ...viewPolicy, onCrash: 'fail' });
    expect(kindsOf(write?.events ?? [])).toEqual(['run-settled', 'status failed']);
  });

  test('cancels a task whose cancel was asked for', () => {
    const write = lost({ task: { cancelAt: VIEW_NOW, cancelBy: 'ann' } });
    expect(write?.events.at(-1)).toMatchObject({ state: 'canceled' });
    expect(write?.runs).toMatchObject([{ outcome: 'lost' }]);
  });

  test('a live task without any run gets one', () => {
    const write = lost({ run: 'none', turn: { state: 'current', attempts: 4 } });
    expect(write?.events).toEqual([]);
    expect(write?.runs).toMatchObject([{ kind: 'queue', run: { attempt: 5 } }]);
  });

  test.each([
    ['completed', {}],
    ['input-required', {}],
    ['input-required', { run: 'none' }],
    ['auth-required', {}],
    ['working', { run: 'queued' }],
    ['working', { run: 'waiting' }],
  ] as const)('is nobody of a %s task (%o)', (state, options) => {
    expect(decideLost(taskView(state, options), { ...facts, message })).toBeUndefined();
  });
});

describe('a deadline', () => {
  const at = (kind: DeadlineKind, inMs: number) => ({ kind, at: instant(VIEW_NOW + inMs) });
  const request = { now: VIEW_NOW, message };

  test.each([
    ['submitted', 'queued', 'no worker could take it'],
    ['working', 'idle', 'no sign of life'],
    ['working', 'total', 'longer than this server allows'],
    ['input-required', 'interrupted', 'nobody answered'],
    ['auth-required', 'interrupted', 'nobody answered'],
  ] as const)('of a %s task (%s) fails it in words', (state, kind, words) => {
    const write = decideDeadline(taskView(state, { task: { deadline: at(kind, 0) }, queued: 1 }), request);
    expect(kindsOf(write?.events ?? [])).toEqual(['run-settled', 'message-dropped', 'status failed']);
    expect(JSON.stringify(write?.events.at(-1))).toContain(words);
    expect(write?.runs).toMatchObject([{ outcome: 'timed-out' }]);
    expect(write?.revokeFence).toBe(true);
  });

  test.each(['cancel', 'idle', 'total'] as const)('of a task whose cancel was asked for (%s) cancels it', (kind) => {
    const view = working({ task: { deadline: at(kind, -1), cancelAt: VIEW_NOW, cancelBy: 'ann' } });
    const write = decideDeadline(view, request);
    expect(kindsOf(write?.events ?? [])).toEqual(['run-settled', 'status canceled']);
  });

  test('that moved, that is not there, or of an ended task does nothing', () => {
    expect(decideDeadline(working({ task: { deadline: at('idle', 1) } }), request)).toBeUndefined();
    expect(decideDeadline(working(), request)).toBeUndefined();
    expect(decideDeadline(taskView('failed', { task: { deadline: at('idle', 0) } }), request)).toBeUndefined();
  });
});

describe('a timer', () => {
  const request = { now: VIEW_NOW, runId, times: viewTimes };
  const past = instant(VIEW_NOW - 1);
  const future = instant(VIEW_NOW + 1);

  test('wakes a sleeping turn with its next run', () => {
    const view = working({ run: 'waiting', wakeAt: VIEW_NOW, open: [sleepEntry('sleep:1h', VIEW_NOW)] });
    const write = decideTimer(view, request);
    expect(kindsOf(write?.events ?? [])).toEqual(['timer-fired', 'run-settled']);
    expect(write?.journal).toMatchObject([{ key: 'sleep:1h', state: 'done', dueAt: VIEW_NOW }]);
    expect(write?.runs).toMatchObject([{ outcome: 'parked' }, { run: { id: runId, attempt: 2, delayMs: 0 } }]);
    expect(write?.deadline).toEqual({ kind: 'queued', inMs: 30_000 });
  });

  test('ends the questions whose time is up, and leaves the others open', () => {
    const open = [
      askEntry('ask:a', { dueAt: past }),
      askEntry('ask:b', { dueAt: future }),
      askEntry('ask:c'),
      { ...signInEntry('authorize:oauth'), dueAt: past },
    ];
    const write = decideTimer(taskView('input-required', { wakeAt: past, open }), request);
    expect(kindsOf(write?.events ?? [])).toEqual([
      'question-answered',
      'question-answered',
      'run-settled',
      'status working',
    ]);
    expect(write?.journal).toMatchObject([
      { key: 'ask:a', state: 'expired', question: { askId: 'ask:a' } },
      { key: 'authorize:oauth', state: 'expired' },
    ]);
  });

  test('that was moved, or whose run went on meanwhile, does nothing', () => {
    expect(decideTimer(working({ run: 'waiting', wakeAt: future }), request)).toBeUndefined();
    expect(decideTimer(working({ run: 'waiting' }), request)).toBeUndefined();
    expect(decideTimer(working({ run: 'queued' }), request)).toBeUndefined();
    expect(decideTimer(taskView('completed'), request)).toBeUndefined();
  });
});
