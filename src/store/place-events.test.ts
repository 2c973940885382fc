import { expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import type { StoredEvent } from '../model/event.ts';
import type { MessageId } from '../model/ids.ts';
import { planFacts } from './fact-plan.ts';
import { grantEvents, messageSeqOf, placeEvents, writtenAt } from './place-events.ts';

const run = { id: 'r' as never, turnNo: 2 as never, attempt: 3, workerId: 'w' };

test('events take the places after the head, at one time', () => {
  const events = placeEvents([{ kind: 'task-created' }, { kind: 'timer-fired', key: 'k' }], {
    headSeq: 4,
    at: instant(9),
  });
  expect(events).toEqual([
    { kind: 'task-created', seq: 5, at: 9 },
    { kind: 'timer-fired', key: 'k', seq: 6, at: 9 },
  ]);
});

test('time never runs backwards in a log', () => {
  expect(writtenAt(undefined, instant(5))).toBe(5);
  expect(writtenAt({ headAt: instant(4) }, instant(5))).toBe(5);
  expect(writtenAt({ headAt: instant(6) }, instant(5))).toBe(6);
});

test('a grant starts a run, and a task that had not begun', () => {
  const started = { kind: 'run-started', runId: 'r', turnNo: 2, attempt: 3, workerId: 'w' };
  expect(grantEvents({ state: 'working' }, run)).toEqual([started]);
  expect(grantEvents({ state: 'submitted' }, run)).toEqual([started, { kind: 'status-changed', state: 'working' }]);
});

test('the place of a message is that of its event', () => {
  const events = [
    { kind: 'task-created', seq: 1 },
    { kind: 'message-received', message: { messageId: 'm' }, seq: 2 },
  ] as unknown as StoredEvent[];
  expect(messageSeqOf(events, 'm' as MessageId)).toBe(2);
  expect(() => messageSeqOf(events, 'n' as MessageId)).toThrow('stands among the events');
});

test('facts are sorted into rows; of a key the last write counts', () => {
  const entry = { turnNo: 1 as never, key: 'step:a', kind: 'step', state: 'done' } as const;
  expect(
    planFacts([
      { kind: 'session-state', key: 'k', value: '1' },
      { kind: 'event', event: { kind: 'task-created' }, blobs: [4 as never] },
      { kind: 'journal', entry },
      { kind: 'session-state', key: 'k', value: undefined },
    ]),
  ).toEqual({
    events: [{ kind: 'task-created' }],
    journal: [entry],
    sessionState: new Map([['k', undefined]]),
    blobs: [4],
  });
});
