import { describe, expect, test } from 'vitest';
import { instant } from '../base/clock.ts';
import type { Task } from '../model/task.ts';
import { deadlinesAfterAppend, deadlinesAfterClaim, deadlinesAfterWrite, firstDeadlines } from './deadline.ts';

const now = instant(1_000);
const task = (row: Partial<Task>): Task => ({ state: 'working', ...row }) as Task;
const at = (kind: 'idle' | 'cancel' | 'total' | 'queued', ms: number) => ({ kind, at: instant(ms) });

describe('the deadline that is stored', () => {
  test.each([
    ['own, without a total', { kind: 'idle', inMs: 50 }, undefined, at('idle', 1_050)],
    ['own, nearer than the total', { kind: 'idle', inMs: 50 }, 60, at('idle', 1_050)],
    ['own, as near as the total', { kind: 'idle', inMs: 60 }, 60, at('idle', 1_060)],
    ['the total, nearer', { kind: 'idle', inMs: 61 }, 60, at('total', 1_060)],
    ['the total alone', undefined, 60, at('total', 1_060)],
    ['none', undefined, undefined, undefined],
  ] as const)('of a new task is %s', (_what, deadline, totalMs, expected) => {
    const first = firstDeadlines({ now, deadline, ...(totalMs === undefined ? {} : { totalMs }) });
    expect(first.deadline).toEqual(expected);
    expect('deadline' in first).toBe(expected !== undefined);
    expect(first.totalAt).toBe(totalMs === undefined ? undefined : now + totalMs);
  });

  test('of a write is kept by default', () => {
    const row = task({ deadline: at('cancel', 1_500), totalAt: instant(2_000) });
    const same = { deadline: row.deadline, totalAt: row.totalAt };
    expect(deadlinesAfterWrite(row, undefined, now)).toEqual(same);
    expect(deadlinesAfterWrite(row, 'keep', now)).toEqual(same);
  });

  test('of an ended task is none, whatever is asked for', () => {
    const row = task({ state: 'failed', deadline: at('idle', 1_500), totalAt: instant(2_000) });
    expect(deadlinesAfterWrite(row, { kind: 'idle', inMs: 5 }, now)).toEqual({});
  });

  test('of a cancel is put off by neither a sign of life nor a claim', () => {
    const row = task({ deadline: at('cancel', 1_500) });
    expect(deadlinesAfterAppend(row, { kind: 'idle', inMs: 9_000 }, now)).toEqual({ deadline: row.deadline });
    expect(deadlinesAfterClaim(row, { kind: 'idle', inMs: 9_000 }, now)).toEqual({ deadline: row.deadline });
  });

  test('of a claim without one is none: the run waits in no queue any more', () => {
    expect(deadlinesAfterClaim(task({ deadline: at('queued', 1_500) }), undefined, now)).toEqual({});
  });
});
