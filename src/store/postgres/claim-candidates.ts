import type { AgentName, RunId, RunNo, TaskNo, TurnNo } from '../../model/ids.ts';
import { RUN_STATE_NUMBERS } from '../../model/run.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { Statement } from './database.ts';
import { moment, Parameters } from './parameters.ts';

/** A queued run that a claim may take. Nothing is locked yet: another may take it first. */
export interface Candidate {
  readonly run_no: RunNo;
  readonly run_id: RunId;
  readonly task_no: TaskNo;
  readonly turn_no: TurnNo;
  readonly attempt: number;
}

/** Scopes of one agent that a claim looks at. With more of them waiting, the next claim goes on where this one stopped. */
export const CLAIM_SCOPES_MAX = 64;

const READY = `r.state = ${RUN_STATE_NUMBERS.queued} and r.engine = 'local'`;

/**
 * The oldest runnable runs of each agent and scope, those first of whom there is one: so the many runs of one scope
 * stand behind the first of every other. The scopes are found by skipping from one to the next on `run_ready_of_scope`, never by reading
 * their runs. Returns `Candidate`s, and with each the `scope` and the `hop` at which it was found.
 */
export function selectCandidates(
  d: Dialect,
  request: {
    readonly agents: readonly AgentName[];
    /** Scopes from these on, by agent. */
    readonly from: readonly string[];
    readonly runsMax: number;
    readonly now: number | null;
  },
): Statement {
  const p = new Parameters();
  const run = d.table('run');
  const now = moment(d, p, request.now);
  const runsMax = p.add(request.runsMax, 'int');
  const text = `with recursive place as (
      select a.agent, f.scope, 1 as hop
      from unnest(${p.add(request.agents, 'text[]')}, ${p.add(request.from, 'text[]')}) as a (agent, start)
      cross join lateral (
        select r.scope from ${run} r where ${READY} and r.agent = a.agent and r.scope >= a.start order by r.scope limit 1) f
      union all
      select b.agent, n.scope, b.hop + 1
      from place b
      cross join lateral (
        select r.scope from ${run} r where ${READY} and r.agent = b.agent and r.scope > b.scope order by r.scope limit 1) n
      where b.hop < ${CLAIM_SCOPES_MAX})
    select b.agent, b.scope, b.hop, c.run_no, c.run_id, c.task_no, c.turn_no, c.attempt
    from place b
    left join lateral (
      select r.no as run_no, r.id as run_id, r.task_no, r.turn_no, r.attempt, r.runnable_at,
        row_number() over (order by r.runnable_at, r.no) as turn
      from ${run} r
      where ${READY} and r.agent = b.agent and r.scope = b.scope and r.runnable_at <= ${now}
      order by r.runnable_at, r.no
      limit ${runsMax}) c on true
    order by c.turn nulls last, c.runnable_at, c.run_no`;
  return { text, values: p.values };
}
