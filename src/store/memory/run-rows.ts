import { assert, unreachable } from '../../base/assert.ts';
import { type Instant, instant } from '../../base/clock.ts';
import type { RunId, RunNo } from '../../model/ids.ts';
import type { Run } from '../../model/run.ts';
import type { NewRun, RunWrite } from '../../model/task-write.ts';

/** What a run write needs to know of the draft it is part of. */
interface RunContext {
  readonly runs: readonly Run[];
  readonly now: Instant;
  readonly at: Instant;
  readonly tables: { readonly runIds: ReadonlySet<RunId>; readonly last: { run: number } };
}

/** The runs of a task after one write. */
export function writeRun(context: RunContext, write: RunWrite): readonly Run[] {
  switch (write.kind) {
    case 'queue':
      return [...context.runs, queuedRun(context, write.run)];
    case 'settle':
      return replaceRun(context.runs, write.runNo, (run) => {
        assert(run.state !== 'settled', 'a run settles once');
        const { outcome } = write;
        const reason = write.reason === undefined ? {} : { reason: write.reason };
        return { ...identity(run), state: 'settled', outcome, ...reason, settledAt: context.at };
      });
    case 'park':
      return replaceRun(context.runs, write.runNo, (run) => {
        assert(run.state === 'leased', 'a run parks while it is leased');
        const { wakeAt, wakeKey } = write;
        assert(wakeAt !== undefined || wakeKey !== undefined, 'a waiting run waits for something');
        const wake = {
          ...(wakeAt === undefined ? {} : { at: wakeAt }),
          ...(wakeKey === undefined ? {} : { key: wakeKey }),
        };
        return { ...identity(run), state: 'waiting', wake: Object.freeze(wake) };
      });
    default:
      return unreachable(write);
  }
}

function queuedRun(context: RunContext, { id, turnNo, attempt, delayMs }: NewRun): Run {
  assert(!context.tables.runIds.has(id), 'a run id is used once');
  const isTaken = context.runs.some((run) => run.turnNo === turnNo && run.attempt === attempt);
  assert(!isTaken, 'a turn has each attempt once');
  // A number that a refused write drew is not given again, as in a database.
  context.tables.last.run += 1;
  const no = context.tables.last.run as RunNo;
  return Object.freeze({ no, id, turnNo, attempt, state: 'queued', runnableAt: instant(context.now + delayMs) });
}

function replaceRun(runs: readonly Run[], runNo: RunNo, change: (run: Run) => Run): readonly Run[] {
  const index = runs.findIndex((run) => run.no === runNo);
  const run = runs[index];
  assert(run !== undefined, 'a write names runs of its task');
  return runs.with(index, Object.freeze(change(run)));
}

function identity({
  no,
  id,
  turnNo,
  attempt,
  startedAt,
}: Run): Pick<Run, 'no' | 'id' | 'turnNo' | 'attempt' | 'startedAt'> {
  return { no, id, turnNo, attempt, ...(startedAt === undefined ? {} : { startedAt }) };
}
