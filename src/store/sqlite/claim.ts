import { assert } from '../../base/assert.ts';
import { type Instant, instant } from '../../base/clock.ts';
import type { AgentName, RunId, RunNo, TaskNo, TurnNo } from '../../model/ids.ts';
import { RUN_STATE_NUMBERS } from '../../model/run.ts';
import type { ClaimRequest, Grant } from '../contract.ts';
import { deadlinesAfterClaim } from '../deadline.ts';
import { writtenAt } from '../place-events.ts';
import { unescapeText } from '../sql/text-escape.ts';
import type { Connection } from './connection.ts';
import { grantRun } from './grant.ts';
import { readTaskRow, updateTask, withDeadlines } from './task-row.ts';

/** Scopes that one claim looks at, per agent; the next claim goes on behind them. */
const SCOPES_PER_CLAIM_MAX = 64;

const READY = `state = ${RUN_STATE_NUMBERS.queued} and engine = 'local'`;
const CANDIDATE_COLUMNS = 'no, id, task_no, turn_no, attempt, agent, scope, runnable_at';

/** Rides on `run_ready`. */
const SELECT_OLDEST = `
  select ${CANDIDATE_COLUMNS}
  from run
  where agent = ?1 and ${READY} and runnable_at <= ?2
  order by runnable_at, no
  limit ?3`;

/** Steps from scope to scope along `run_ready_of_scope`, however many runs each of them has. */
const SELECT_SCOPES = `
  with recursive ready (scope) as (
    select min(scope) from run where agent = ?1 and ${READY} and scope > ?2
    union all
    select (select min(r.scope) from run r where r.agent = ?1 and r.${READY} and r.scope > ready.scope)
    from ready
    where ready.scope is not null
    limit ${SCOPES_PER_CLAIM_MAX}
  )
  select scope from ready where scope is not null`;

const SELECT_OLDEST_OF_SCOPE = `
  select ${CANDIDATE_COLUMNS}
  from run
  where agent = ?1 and scope = ?2 and ${READY} and runnable_at <= ?3
  order by runnable_at, no
  limit ?4`;

/** One agent at a time: the first entry of `run_ready` is the answer, however long the queue. */
const SELECT_NEXT = `
  select min(runnable_at) as runnable_at
  from run
  where agent = ?1 and ${READY}`;

export function nextRunnableAt(db: Connection, agents: readonly AgentName[]): Instant | undefined {
  const times = agents.flatMap(
    (agent) => db.one<{ runnable_at: number | null }>(SELECT_NEXT, agent)?.runnable_at ?? [],
  );
  return times.length === 0 ? undefined : instant(Math.min(...times));
}

interface Candidate {
  readonly no: number;
  readonly id: string;
  readonly task_no: number;
  readonly turn_no: number;
  readonly attempt: number;
  readonly agent: string;
  readonly scope: string;
  readonly runnable_at: number;
}

/** Where the last claim of each agent stopped looking at scopes. It decides about fairness alone, so it is not stored. */
export type ScopePlaces = Map<AgentName, string>;

/**
 * The longest runnable first, but in rounds: the first of every agent and scope, then the second of each, and so on. So
 * nobody's run waits behind all of somebody else's.
 */
export function claim(tx: Connection, request: ClaimRequest, places: ScopePlaces, now: Instant): readonly Grant[] {
  if (request.runsMax <= 0) return [];
  const candidates = request.agents.flatMap((agent) => candidatesOf(tx, agent, request.runsMax, places, now));
  return inRounds(candidates)
    .slice(0, request.runsMax)
    .map((candidate) => grantCandidate(tx, candidate, request, now));
}

/** Some may be found twice: among the oldest of all and of their scope. */
function candidatesOf(
  tx: Connection,
  agent: AgentName,
  runsMax: number,
  places: ScopePlaces,
  now: Instant,
): readonly Candidate[] {
  const oldest = tx.allRaw<Candidate>(SELECT_OLDEST, agent, now, runsMax);
  // With room for all that are ready there is nothing to be fair about.
  if (oldest.length < runsMax) return oldest;
  const after = places.get(agent) ?? '';
  let scopes = tx.allRaw<{ scope: string }>(SELECT_SCOPES, agent, after);
  if (scopes.length < SCOPES_PER_CLAIM_MAX && after !== '') {
    scopes = [...scopes, ...tx.allRaw<{ scope: string }>(SELECT_SCOPES, agent, '')].slice(0, SCOPES_PER_CLAIM_MAX);
  }
  places.set(agent, scopes.length < SCOPES_PER_CLAIM_MAX ? '' : (scopes.at(-1)?.scope ?? ''));
  const perScope = Math.max(1, Math.ceil(runsMax / Math.max(1, scopes.length)));
  const ofScopes = scopes.flatMap(({ scope }) =>
    tx.allRaw<Candidate>(SELECT_OLDEST_OF_SCOPE, agent, scope, now, perScope),
  );
  return [...oldest, ...ofScopes];
}

function inRounds(candidates: readonly Candidate[]): readonly Candidate[] {
  const ordered = [...new Map(candidates.map((candidate) => [candidate.no, candidate])).values()].sort(byAge);
  const rounds = new Map<string, number>();
  const placed = ordered.map((candidate) => {
    const place = `${candidate.agent} ${candidate.scope}`;
    const round = (rounds.get(place) ?? 0) + 1;
    rounds.set(place, round);
    return { candidate, round };
  });
  return placed.sort((a, b) => a.round - b.round || byAge(a.candidate, b.candidate)).map(({ candidate }) => candidate);
}

function byAge(a: Candidate, b: Candidate): number {
  return a.runnable_at - b.runnable_at || a.no - b.no;
}

function grantCandidate(tx: Connection, candidate: Candidate, request: ClaimRequest, now: Instant): Grant {
  const task = readTaskRow(tx, candidate.task_no as TaskNo);
  assert(task !== undefined, 'a run has a task');
  const moment = { now, at: writtenAt(task, now) };
  const run = {
    no: candidate.no as RunNo,
    id: unescapeText(candidate.id) as RunId,
    turnNo: candidate.turn_no as TurnNo,
    attempt: candidate.attempt,
  };
  const granted = grantRun(tx, task, run, request, moment);
  updateTask(tx, task, withDeadlines(granted.task, deadlinesAfterClaim(task, request.deadline, now)));
  return granted.grant;
}
