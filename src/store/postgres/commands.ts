import type { Seq } from '../../model/ids.ts';
import type { TaskState } from '../../model/task.ts';
import { rowEffect } from '../../model/task-fold.ts';
import type { TaskWrite } from '../../model/task-write.ts';
import type { CommandResult, Grant, SettleRequest } from '../contract.ts';
import { planFacts } from '../fact-plan.ts';
import { taskStateOf } from '../sql/row-codec.ts';
import { isLost } from './errors.ts';
import { eventsAt } from './event-search.ts';
import { readGrants } from './lost-grants.ts';
import { findMessageOfTask } from './messages.ts';
import type { TaskPlaceKey } from './moved-task.ts';
import { nowOf, type PostgresContext } from './postgres-context.ts';
import { type ChangeOutcome, type PlannedChange, planChange, type TaskChange } from './task-changes.ts';
import { holds, leaseLost, readGuards } from './task-guards.ts';
import { readView } from './view-reads.ts';

/** `SystemStore.command` and `ScopedStore.command`. */
export async function commandTask(
  context: PostgresContext,
  key: TaskPlaceKey,
  decided: { readonly headSeq: Seq; readonly write: TaskWrite },
): Promise<CommandResult> {
  const { write } = decided;
  const stateBefore = write.grantTo === undefined ? undefined : await readState(context, key, write);
  const request = { key, ...decided, ...(stateBefore === undefined ? {} : { stateBefore }) };
  for (;;) {
    const outcome = await change(context, request);
    if (outcome.kind === 'written') return outcome;
    const message = outcome.kind === 'known' ? await findMessageOfTask(context, key, write.idempotency) : undefined;
    if (message !== undefined) return { kind: 'repeated', message };
    if ((await readGuards(context, key)) === undefined) return { kind: 'gone' };
    if (outcome.kind === 'unmoved') return { kind: 'moved' };
    // The message was forgotten between the two statements: write again.
  }
}

/** `SystemStore.settle`. */
export async function settleRun(
  context: PostgresContext,
  grant: Grant,
  request: SettleRequest,
): Promise<CommandResult> {
  const { emitNo, facts, headSeq, write, deadline } = request;
  const key = { taskNo: grant.taskNo };
  const outcome = await change(context, {
    key,
    headSeq,
    write,
    grant: { fence: grant.fence, emitNo },
    facts: { ...planFacts(facts), count: facts.length },
    ...(deadline === undefined ? {} : { signOfLife: deadline }),
    stateBefore: 'working',
  });
  if (outcome.kind === 'written') return outcome;
  const row = await readGuards(context, key);
  if (row === undefined) return { kind: 'gone' };
  if (!holds(row, grant, emitNo)) throw leaseLost(grant);
  const message = outcome.kind === 'known' ? await findMessageOfTask(context, key, write.idempotency) : undefined;
  return message === undefined ? { kind: 'moved' } : { kind: 'repeated', message };
}

/**
 * Writes a change. Where the answer is lost it is written again: it then finds itself done, by its events
 * at the very place where they had to be, or does it now.
 */
async function change(context: PostgresContext, request: Omit<TaskChange, 'now'>): Promise<ChangeOutcome> {
  const planned = planChange(context.d, { ...request, now: nowOf(context) });
  const write = async () => planned.read(await context.database.write(planned.statements));
  try {
    return await write();
  } catch (error) {
    if (!isLost(error)) throw error;
  }
  try {
    const outcome = await write();
    return outcome.kind === 'written' ? outcome : ((await findWritten(context, request, planned)) ?? outcome);
  } catch (error) {
    const { grantTo } = request.write;
    if (planned.leased !== undefined && grantTo !== undefined) context.lostGrants.add([planned.leased], grantTo);
    throw error;
  }
}

/** The change as it was written by an attempt whose answer was lost; undefined when another change stands in its place. */
async function findWritten(
  context: PostgresContext,
  request: Omit<TaskChange, 'now'>,
  planned: PlannedChange,
): Promise<ChangeOutcome | undefined> {
  const view = await readView(context, request.key);
  if (view === undefined) return undefined;
  const { task } = view;
  const events = await eventsAt(context, task.no, { events: planned.events, headSeq: request.headSeq });
  if (events === undefined) return undefined;
  const { grantTo } = request.write;
  if (planned.leased === undefined || grantTo === undefined) return { kind: 'written', task, events };
  const [grant] = await readGrants(context, [planned.leased], grantTo);
  return { kind: 'written', task, events, ...(grant === undefined ? {} : { grant }) };
}

/** A grant needs to know whether the task works already. Where the write does not say so, the row does; that it is still at this head is the write's own condition. */
async function readState(
  context: PostgresContext,
  key: TaskPlaceKey,
  write: TaskWrite,
): Promise<TaskState | undefined> {
  if (rowEffect(write.events).status !== undefined) return undefined;
  const row = await readGuards(context, key);
  return row === undefined ? 'submitted' : taskStateOf(row.state);
}
