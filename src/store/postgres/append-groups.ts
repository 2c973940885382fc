import { instant } from '../../base/clock.ts';
import type { Seq } from '../../model/ids.ts';
import { rowEffect } from '../../model/task-fold.ts';
import type { AppendResult, FactBatch, Grant } from '../contract.ts';
import { type FactPlan, planFacts } from '../fact-plan.ts';
import { placeEvents } from '../place-events.ts';
import { type AppendItem, appendItems } from './append-statement.ts';
import { appendFacts } from './appends.ts';
import { followEvents, followFacts } from './following-rows.ts';
import { nowOf, type PostgresContext } from './postgres-context.ts';
import type { MovedRow } from './task-update.ts';

interface Entry {
  readonly grant: Grant;
  readonly batch: FactBatch;
  readonly plan: FactPlan;
  readonly resolve: (result: AppendResult | Promise<AppendResult>) => void;
}

/** Transactions with groups that are under way at once; what comes meanwhile makes the next group. */
const GROUPS_MAX = 2;
/** Batches and facts of one group: it holds its tasks for as long as it takes. */
const GROUP_BATCHES_MAX = 64;
const GROUP_FACTS_MAX = 1_024;

/**
 * `SystemStore.append` for one process. Batches of different tasks that come while others are being written go together in one
 * transaction; with few tasks at work each goes at once and on its own.
 *
 * A batch that its group passed over, because another transaction held its task or its grant was not the newest, goes again alone,
 * and so does every batch of a group that failed: one of them may be to blame, and its neighbours are not to suffer for it.
 */
export class AppendGroups {
  readonly #context: PostgresContext;
  #waiting: Entry[] = [];
  #underWay = 0;

  constructor(context: PostgresContext) {
    this.#context = context;
  }

  append(grant: Grant, batch: FactBatch): Promise<AppendResult> {
    const plan = planFacts(batch.facts);
    if (!isPlain(plan)) return appendFacts(this.#context, grant, batch);
    return new Promise((resolve) => {
      this.#waiting.push({ grant, batch, plan, resolve });
      this.#pulse();
    });
  }

  #pulse(): void {
    while (this.#underWay < GROUPS_MAX && this.#waiting.length > 0) {
      this.#underWay += 1;
      this.#write(this.#takeGroup()).then(() => {
        this.#underWay -= 1;
        this.#pulse();
      });
    }
  }

  /** The oldest batches, one of each task. */
  #takeGroup(): readonly Entry[] {
    const group = new Map<number, Entry>();
    const rest: Entry[] = [];
    let facts = 0;
    for (const entry of this.#waiting) {
      const { taskNo } = entry.grant;
      facts += entry.batch.facts.length;
      const fits = group.size < GROUP_BATCHES_MAX && (group.size === 0 || facts <= GROUP_FACTS_MAX);
      if (fits && !group.has(taskNo)) group.set(taskNo, entry);
      else rest.push(entry);
    }
    this.#waiting = rest;
    return [...group.values()];
  }

  /** Never fails: each batch is answered on its own. */
  async #write(group: readonly Entry[]): Promise<void> {
    const alone = (entry: Entry) => entry.resolve(appendFacts(this.#context, entry.grant, entry.batch));
    const [first, second] = group;
    if (first !== undefined && second === undefined) {
      const result = appendFacts(this.#context, first.grant, first.batch);
      first.resolve(result);
      await result.catch(() => {});
      return;
    }
    const moved = await this.#writeTogether(group).catch(() => new Map<number, MovedRow>());
    for (const entry of group) {
      const row = moved.get(entry.grant.taskNo);
      if (row === undefined) alone(entry);
      else entry.resolve(writtenBatch(entry.plan, row));
    }
  }

  async #writeTogether(group: readonly Entry[]): Promise<Map<number, MovedRow>> {
    const { d, database } = this.#context;
    const follow = group.flatMap(({ grant, batch, plan }) => {
      const key = { taskNo: grant.taskNo };
      return [...followEvents(d, key, plan.events), ...followFacts(d, key, plan, -batch.facts.length)];
    });
    const items = group.map(itemOf);
    const [rows] = await database.write([appendItems(d, items, nowOf(this.#context)), ...follow]);
    return new Map((rows as unknown as readonly MovedRow[]).map((row) => [row.no, row]));
  }
}

/**
 * A batch that changes nothing of its task but the log's head; with a status in it, it goes alone. So does one that writes to
 * its session, which other tasks share: a group that waits for one session's rows with another's in its hand would deadlock.
 */
function isPlain(plan: FactPlan): boolean {
  const { status, cancelBy, turnNo, eventCount } = rowEffect(plan.events);
  return (
    plan.sessionState.size === 0 &&
    eventCount > 0 &&
    status === undefined &&
    cancelBy === undefined &&
    turnNo === undefined
  );
}

function itemOf({ grant, batch, plan }: Entry): AppendItem {
  return {
    taskNo: grant.taskNo,
    fence: grant.fence,
    emitNo: batch.emitNo,
    factCount: batch.facts.length,
    events: plan.events,
    deadline: batch.deadline,
  };
}

function writtenBatch(plan: FactPlan, row: MovedRow): AppendResult {
  const events = placeEvents(plan.events, { headSeq: row.base, at: instant(row.head_at) });
  return { kind: 'written', events, headSeq: row.head_seq as Seq };
}
