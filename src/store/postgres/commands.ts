import { unreachable } from '../../base/assert.ts';
import type { Seq } from '../../model/ids.ts';
import type { TaskState } from '../../model/task.ts';
import { rowEffect } from '../../model/task-fold.ts';
import type { TaskWrite } from '../../model/task-write.ts';
import type { CommandResult, Grant, SettleRequest } from '../contract.ts';
import { planFacts } from '../fact-plan.ts';
import { taskStateOf } from '../sql/row-codec.ts';
import { findMessageOfTask } from './messages.ts';
import type { TaskPlaceKey } from './moved-task.ts';
import { nowOf, type PostgresContext } from './postgres-context.ts';
import { type ChangeOutcome, planChange, type TaskChange } from './task-changes.ts';
import { holds, leaseLost, readGuards } from './task-guards.ts';

/** `SystemStore.command` and `ScopedStore.command`. */
export async function commandTask(
  context: PostgresContext,
  key: TaskPlaceKey,
  decided: { readonly headSeq: Seq; readonly write: TaskWrite },
): Promise<CommandResult> {
  const { write } = decided;
  const stateBefore = write.grantTo === undefined ? undefined : await readState(context, key, write);
  const outcome = await change(context, { key, ...decided, ...(stateBefore === undefined ? {} : { stateBefore }) });
  switch (outcome.kind) {
    case 'written':
      return outcome;
    case 'known': {
      const message = await findMessageOfTask(context, key, write.idempotency);
      return message === undefined ? { kind: 'repeated' } : { kind: 'repeated', message };
    }
    case 'unmoved':
      return (await readGuards(context, key)) === undefined ? { kind: 'gone' } : { kind: 'moved' };
    default:
      return unreachable(outcome);
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
  if (outcome.kind === 'unmoved') return { kind: 'moved' };
  const message = await findMessageOfTask(context, key, write.idempotency);
  return message === undefined ? { kind: 'repeated' } : { kind: 'repeated', message };
}

async function change(context: PostgresContext, request: Omit<TaskChange, 'now'>): Promise<ChangeOutcome> {
  const planned = planChange(context.d, { ...request, now: nowOf(context) });
  return planned.read(await context.database.write(planned.statements));
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
