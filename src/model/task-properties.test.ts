import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assert } from '../base/assert.ts';
import { TaskWalk, type WalkPolicy, type WalkStep } from '../testing/task-walk.ts';

const policies: fc.Arbitrary<WalkPolicy> = fc.record({
  whenBusy: fc.constantFrom('reject', 'queue'),
  cancel: fc.constantFrom('any', 'submitted-only'),
  onCrash: fc.constantFrom('retry', 'fail'),
  onError: fc.constantFrom('fail', 'retry'),
  crashesMax: fc.integer({ min: 0, max: 3 }),
  totalMaxMs: fc.constantFrom(0, 100_000),
});

const words = fc.constantFrom('yes', '7', 'perhaps', '');
const steps: fc.Arbitrary<WalkStep> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('text' as const), text: words }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('data' as const), pick: fc.nat(3), action: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resume' as const) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('claim' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), how: fc.nat(6) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('park' as const),
      what: fc.array(fc.nat(4), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lose' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 1_000, 5_000, 30_000, 700_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
);

/** Every state and every way there; a walk that misses one proves less than it says. */
const EVERYTHING = [
  'auth-required',
  'canceled',
  'completed',
  'deadline',
  'failed',
  'fenced',
  'handed-back',
  'input-required',
  'interrupted',
  'lost',
  'parked',
  'refused invalid_argument',
  'refused overloaded',
  'refused task_not_cancelable',
  'refused unsupported_operation',
  'rejected',
  'submitted',
  'succeeded',
  'timer',
  'unchanged',
  'working',
];

test('no sequence of commands, runs and losses leads a task astray', async () => {
  const reached = new Set<string>();
  await fc.assert(
    fc.asyncProperty(policies, fc.array(steps, { minLength: 5, maxLength: 40 }), async (policy, sequence) => {
      const walk = await TaskWalk.begin(policy);
      for (const step of sequence) {
        await walk.take(step);
        await walk.check();
      }
      reached.add(walk.view.task.state);
      for (const mark of walk.marks) reached.add(mark);
    }),
    { numRuns: 400 },
  );
  expect([...reached].sort()).toEqual(EVERYTHING);
});

test('a task that is left alone with a worker and time comes to its end', async () => {
  await fc.assert(
    fc.asyncProperty(policies, fc.array(steps, { maxLength: 25 }), async (policy, sequence) => {
      const walk = await TaskWalk.begin(policy);
      for (const step of sequence) await walk.take(step);
      await walk.runToEnd();
      await walk.check();
      assert(walk.isOver, `the task is ${walk.view.task.state}`);
    }),
    { numRuns: 200 },
  );
});
