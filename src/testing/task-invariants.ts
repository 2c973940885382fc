import { assert } from '../base/assert.ts';
import type { StoredEvent } from '../model/event.ts';
import type { MessageId, RunId } from '../model/ids.ts';
import { isInterrupted, isTerminal, type Task } from '../model/task.ts';
import { foldTask } from '../model/task-fold.ts';
import type { TaskView } from '../model/task-view.ts';
import type { TaskWrite } from '../model/task-write.ts';

/** What holds of every task at every moment. */
export function checkView({ task, turn, run, queued, open }: TaskView, bounds: { readonly queuedMax: number }): void {
  const isActive = run !== undefined;
  if (isTerminal(task.state)) {
    assert(!isActive && queued.length === 0, 'nothing runs and nothing waits behind an ended task');
    assert(turn.state === 'settled' && open.length === 0, 'an ended task has no open turn');
    assert(task.deadline === undefined && task.endedAt !== undefined, 'an ended task waits for nothing');
    return;
  }
  assert(task.endedAt === undefined, 'a live task has not ended');
  assert(queued.length <= bounds.queuedMax, 'the queue has its bound');
  if (isInterrupted(task.state)) {
    assert(!isActive || run.state === 'waiting', 'an interrupted task has a waiting run or none');
    assert(isActive === (turn.state === 'current'), 'a parked turn is current, one that ended interrupted is over');
    const asked = open.filter(({ kind }) => kind !== 'sleep');
    assert(!isActive || asked.length > 0, 'a turn that waits for its client has a question');
  } else {
    assert(isActive && run.state !== 'settled', 'a submitted or working task has an active run');
    assert(turn.state === 'current' && run.turnNo === turn.turnNo, 'the active run is of the current turn');
    assert(run.state !== 'leased' || run.fence === task.fence, 'the newest grant holds the task');
  }
  if (run?.state === 'waiting') assert(open.length > 0, 'a waiting run waits for something');
}

/** What no change of a task may do; `write` is what was decided, absent for what a store does by itself. */
export function checkMoved(before: TaskView, after: TaskView, write: TaskWrite | undefined): void {
  assert(!isTerminal(before.task.state), 'a terminal task is never changed');
  assert(after.task.fence >= before.task.fence, 'the fence never shrinks');
  assert(after.task.headSeq >= before.task.headSeq, 'the log never shrinks');
  const wasHeld = before.run?.state === 'leased';
  const isHeld = after.run?.state === 'leased' && before.run?.no === after.run.no;
  if (wasHeld && !isHeld) assert(after.task.fence > before.task.fence, 'whoever loses a task loses its fence');
  if (write === undefined || !isTerminal(after.task.state)) return;
  assert(write.revokeFence === true, 'the end of a task takes its fence');
  assert(before.task.cancelAt === undefined || after.task.state === 'canceled', 'a cancel request ends canceled');
}

/** What holds of every log: its places, its end, its runs, its messages, and the row that is folded from it. */
export function checkLog(log: readonly StoredEvent[], task: Task, accepted: readonly MessageId[]): void {
  log.forEach((event, index) => {
    assert(event.seq === index + 1, 'the log has no gaps');
    assert(index === 0 || event.at >= (log[index - 1] as StoredEvent).at, 'the log reads forwards');
  });
  const ends = log.filter((event) => event.kind === 'status-changed' && isTerminal(event.state));
  assert(ends.length === (isTerminal(task.state) ? 1 : 0), 'a task ends once');
  assert(ends.length === 0 || ends[0] === log.at(-1), 'the terminal status is the last event');
  checkRuns(log);
  checkMessages(log, accepted);
  checkFold(log, task);
}

/** A run starts once and settles at most once; no other starts before it has settled. */
function checkRuns(log: readonly StoredEvent[]): void {
  const started = new Set<RunId>();
  const settled = new Set<RunId>();
  let running: RunId | undefined;
  for (const event of log) {
    if (event.kind === 'run-started') {
      assert(!started.has(event.runId) && !settled.has(event.runId), 'a run starts once');
      assert(running === undefined, 'a run starts after the one before it has settled');
      started.add(event.runId);
      running = event.runId;
    } else if (event.kind === 'run-settled') {
      assert(!settled.has(event.runId), 'a run settles once');
      settled.add(event.runId);
      if (running === event.runId) running = undefined;
    }
  }
}

function checkMessages(log: readonly StoredEvent[], accepted: readonly MessageId[]): void {
  const received = log.flatMap((event) => (event.kind === 'message-received' ? [event.message.messageId] : []));
  assert(received.join() === accepted.join(), 'every accepted message is in the log once, in order');
  const dropped = log.flatMap((event) => (event.kind === 'message-dropped' ? [event.messageId] : []));
  assert(new Set(dropped).size === dropped.length, 'a message is dropped once');
  assert(
    dropped.every((id) => accepted.includes(id)),
    'only what was accepted is dropped',
  );
}

function checkFold(log: readonly StoredEvent[], task: Task): void {
  const first = log[0];
  assert(first?.kind === 'task-created', 'a log begins with its task');
  const { endedAt, cancelAt, cancelBy, ...kept } = task;
  const empty: Task = { ...kept, headSeq: 0 as Task['headSeq'], generation: 0, turnNo: 0 as Task['turnNo'] };
  const folded = log.reduce(foldTask, empty);
  const isEqual =
    folded.state === task.state &&
    folded.headSeq === task.headSeq &&
    folded.headAt === task.headAt &&
    folded.stateAt === task.stateAt &&
    folded.statusSeq === task.statusSeq &&
    folded.generation === task.generation &&
    folded.turnNo === task.turnNo &&
    folded.endedAt === endedAt &&
    folded.cancelAt === cancelAt &&
    folded.cancelBy === cancelBy;
  assert(isEqual, 'the row is the fold of its log');
}
