import type { NewEvent } from '../../model/event.ts';
import type { AgentName, RunNo } from '../../model/ids.ts';
import type { ClaimRequest, Grant } from '../contract.ts';
import { newGrant } from '../new-grant.ts';
import { grantEvents, placeEvents } from '../place-events.ts';
import { decodeTask, type TaskRow, taskStateOf } from '../sql/row-codec.ts';
import { type Candidate, CLAIM_SCOPES_MAX, selectCandidates } from './claim-candidates.ts';
import { grantRuns } from './claim-statement.ts';
import type { Row } from './database.ts';
import { isLost } from './errors.ts';
import { nowOf, type PostgresContext } from './postgres-context.ts';
import { decodePrefixedTurn } from './turn-rows.ts';

/** Candidates for each run that is wanted: others claim at the same moment. */
const OVERFETCH = 3;

/**
 * `SystemStore.claim`, for one process. Its claims follow one another, so that a run whose grant was lost is either found again or claimed anew,
 * never both.
 */
export class Claims {
  readonly #context: PostgresContext;
  /** Where the next claim begins, with more scopes waiting than one claim looks at. */
  readonly #starts = new Map<AgentName, string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(context: PostgresContext) {
    this.#context = context;
  }

  claim(request: ClaimRequest): Promise<readonly Grant[]> {
    const next = this.#last.then(() => this.#claim(request));
    this.#last = next.catch(() => {});
    return next;
  }

  async #claim(request: ClaimRequest): Promise<readonly Grant[]> {
    if (request.runsMax <= 0 || request.agents.length === 0) return [];
    const found = await this.#context.lostGrants.take(this.#context, request);
    if (found.length > 0) return found;
    const candidates = await this.#findCandidates(request);
    if (candidates.length === 0) return [];
    try {
      const grants = await this.#grant(request, candidates);
      for (const { runId } of grants) this.#context.lostGrants.forget(runId);
      return grants;
    } catch (error) {
      // Perhaps granted, and nobody knows of it: nobody would execute these runs for as long as this worker lives.
      const runIds = candidates.map((candidate) => candidate.run_id);
      if (isLost(error)) this.#context.lostGrants.add(runIds, request);
      throw error;
    }
  }

  async #grant(request: ClaimRequest, candidates: readonly Candidate[]): Promise<readonly Grant[]> {
    const [rows] = await this.#context.database.write([
      grantRuns(this.#context.d, {
        candidates,
        started: candidates.map((candidate) => runStarted(candidate, request)),
        workerNo: request.workerNo,
        runsMax: request.runsMax,
        deadline: request.deadline,
        now: nowOf(this.#context),
      }),
    ]);
    const byRun = new Map(candidates.map((candidate) => [candidate.run_no, candidate]));
    return (rows ?? []).map((row) => toGrant(row, byRun.get(row.run_no as RunNo) as Candidate, request));
  }

  async #findCandidates(request: ClaimRequest): Promise<readonly Candidate[]> {
    const { agents } = request;
    const runsMax = request.runsMax * OVERFETCH;
    const from = agents.map((agent) => this.#starts.get(agent) ?? '');
    const statement = selectCandidates(this.#context.d, { agents, from, runsMax, now: nowOf(this.#context) });
    const [rows] = await this.#context.database.read([statement]);
    for (const agent of agents) this.#starts.delete(agent);
    for (const row of rows ?? []) {
      if (row.hop === CLAIM_SCOPES_MAX) this.#starts.set(row.agent as AgentName, row.scope as string);
    }
    return (rows ?? []).filter((row) => row.run_no !== null).slice(0, runsMax) as unknown as readonly Candidate[];
  }
}

function runStarted(candidate: Candidate, { workerId }: ClaimRequest): NewEvent {
  const { run_id: id, turn_no: turnNo, attempt } = candidate;
  return grantEvents({ state: 'working' }, { id, turnNo, attempt, workerId })[0] as NewEvent;
}

function toGrant(row: Row, candidate: Candidate, { workerNo, workerId }: ClaimRequest): Grant {
  const task = decodeTask(row as unknown as TaskRow);
  const turn = decodePrefixedTurn(row);
  const run = { id: candidate.run_id, attempt: candidate.attempt };
  const events = grantEvents(
    { state: taskStateOf(row.state_before as number) },
    { ...run, turnNo: turn.turnNo, workerId },
  );
  return newGrant(
    task,
    { run, workerNo },
    {
      runNo: candidate.run_no,
      turn,
      events: placeEvents(events, { headSeq: task.headSeq - events.length, at: task.headAt }),
    },
  );
}
