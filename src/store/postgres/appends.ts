import { instant } from '../../base/clock.ts';
import type { Seq } from '../../model/ids.ts';
import { rowEffect } from '../../model/task-fold.ts';
import type { AppendResult, FactBatch, Grant } from '../contract.ts';
import { type FactPlan, planFacts } from '../fact-plan.ts';
import { placeEvents } from '../place-events.ts';
import type { Statement } from './database.ts';
import { findEvents } from './event-search.ts';
import { followEvents, followFacts } from './following-rows.ts';
import { nowOf, type PostgresContext } from './postgres-context.ts';
import { leaseLost, readGuards } from './task-guards.ts';
import { type MovedRow, updateTask } from './task-update.ts';

/**
 * `SystemStore.append`. One statement moves the task and writes the events; rows that follow stand behind it in the same round trip.
 * A batch whose answer was lost may be sent again: the emit number says whether it was committed.
 */
export async function appendFacts(context: PostgresContext, grant: Grant, batch: FactBatch): Promise<AppendResult> {
  const plan = planFacts(batch.facts);
  const statements = appendStatements(context, grant, { batch, plan });
  const [moved] = await context.database.write(statements, { repeatable: true });
  const row = moved?.[0] as MovedRow | undefined;
  if (row === undefined) return repeatedBatch(context, grant, { batch, plan });
  const events = placeEvents(plan.events, { headSeq: row.base, at: instant(row.head_at) });
  return { kind: 'written', events, headSeq: row.head_seq as Seq };
}

interface PlannedBatch {
  readonly batch: FactBatch;
  readonly plan: FactPlan;
}

function appendStatements(context: PostgresContext, grant: Grant, { batch, plan }: PlannedBatch): readonly Statement[] {
  const { d } = context;
  const key = { taskNo: grant.taskNo };
  const { events } = plan;
  const moving = updateTask(d, {
    key,
    condition: { grant: { fence: grant.fence, emitNo: batch.emitNo } },
    effect: rowEffect(events),
    list: { events, ordinals: events.map((_event, index) => index + 1) },
    fences: 0,
    emit: batch.facts.length,
    deadline: 'keep',
    ...(batch.deadline === undefined ? {} : { signOfLife: batch.deadline }),
    now: nowOf(context),
  });
  return [moving, ...followEvents(d, key, events), ...followFacts(d, key, plan, -batch.facts.length)];
}

/** The row was not as the batch asked. Committed before, when the same grant has emitted exactly this much more. */
async function repeatedBatch(
  context: PostgresContext,
  grant: Grant,
  { batch, plan }: PlannedBatch,
): Promise<AppendResult> {
  const row = await readGuards(context, { taskNo: grant.taskNo });
  const count = batch.facts.length;
  const isCommitted = row?.fence === grant.fence && count > 0 && row.emit_no === batch.emitNo + count;
  if (!isCommitted) throw leaseLost(grant);
  const events = await findEvents(context, grant.taskNo, { events: plan.events, headSeq: row.head_seq as Seq });
  return { kind: 'repeated', events, headSeq: row.head_seq as Seq };
}
