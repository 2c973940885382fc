import { unreachable } from '../../base/assert.ts';
import { formatInstant } from '../../base/clock.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import type { ArtifactEntry } from '../../model/artifact.ts';
import type { StoredEvent } from '../../model/event.ts';
import type { Run } from '../../model/run.ts';
import type { Session } from '../../model/session.ts';
import type { Task } from '../../model/task.ts';
import type { Turn } from '../../model/turn.ts';
import type { StreamEvent } from '../../operations/operations.ts';
import { correlationOf } from '../../protocol/v1/correlation.ts';
import { encodeArtifactPiece, encodeMessage, encodeTask, type TaskSnapshot } from '../../protocol/v1/encode.ts';
import { taskStateName } from '../../protocol/v1/names.ts';
import type { ServedAgent } from '../door.ts';

/*
 * JSON of the native API. Messages, parts, artifacts and states are written as A2A writes them; ids have one name
 * everywhere: taskId, sessionId, threadId, traceId, runId.
 */

/** A2A's Task, and beside it what A2A has no word for. */
export function nativeTask(snapshot: TaskSnapshot & { readonly task: Task }, cursor: string): JsonObject {
  const { task } = snapshot;
  return {
    ...encodeTask(snapshot, { artifacts: true }),
    ...correlationOf(task),
    agent: task.agent,
    createdAt: formatInstant(task.createdAt),
    updatedAt: formatInstant(task.headAt),
    ...(task.endedAt === undefined ? {} : { endedAt: formatInstant(task.endedAt) }),
    ...(task.cancelAt === undefined ? {} : { cancelRequestedAt: formatInstant(task.cancelAt) }),
    ...(task.deadline === undefined
      ? {}
      : { deadline: { kind: task.deadline.kind, at: formatInstant(task.deadline.at) } }),
    seq: task.headSeq,
    cursor,
  };
}

export function nativeSession(session: Session): JsonObject {
  return {
    sessionId: session.contextId,
    threadId: session.threadId,
    agent: session.agent,
    createdAt: formatInstant(session.createdAt),
  };
}

export function nativeRun(run: Run, task: Task): JsonObject {
  return {
    runId: run.id,
    ...correlationOf(task),
    turn: run.turnNo,
    attempt: run.attempt,
    state: run.state,
    ...(run.startedAt === undefined ? {} : { startedAt: formatInstant(run.startedAt) }),
    ...runFacts(run),
  };
}

function runFacts(run: Run): JsonObject {
  switch (run.state) {
    case 'held':
    case 'leased':
      return {};
    case 'queued':
      return { runnableAt: formatInstant(run.runnableAt) };
    case 'waiting':
      return run.wake.at === undefined ? {} : { wakeAt: formatInstant(run.wake.at) };
    case 'settled':
      return {
        outcome: run.outcome,
        ...(run.reason === undefined ? {} : { reason: run.reason }),
        settledAt: formatInstant(run.settledAt),
      };
    default:
      return unreachable(run);
  }
}

export function nativeTurn(turn: Turn): JsonObject {
  return {
    turn: turn.turnNo,
    state: turn.state,
    messageId: turn.messageId,
    skill: turn.skill,
    agentVersion: turn.agentVersion,
    attempts: turn.attempts,
    crashes: turn.crashes,
  };
}

export function nativeArtifact(entry: ArtifactEntry): JsonObject {
  const { name, description, metadata } = entry.header;
  return {
    artifactId: entry.artifactId,
    origin: entry.origin,
    turn: entry.turnNo,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata }),
    seq: entry.baseSeq,
    isComplete: entry.closedSeq !== undefined,
  };
}

export function nativeAgent(
  agent: ServedAgent,
  facts: { readonly isDefault: boolean; readonly url: string },
): JsonObject {
  const skills = Object.entries(agent.skills).map(
    ([id, skill]): Json => ({ id, kind: skill.kind, description: skill.description }),
  );
  return {
    name: agent.name,
    description: agent.description,
    version: agent.version,
    isDefault: facts.isDefault,
    cardUrl: `${facts.url}/.well-known/agent-card.json`,
    skills,
  };
}

/** One event of a log: what every kind has, then its own. */
export function nativeEvent({ event, task, runId }: StreamEvent): JsonObject {
  return {
    seq: event.seq,
    kind: event.kind,
    at: formatInstant(event.at),
    ...correlationOf(task),
    ...(runId === undefined || !namesRun(event) ? {} : { runId }),
    ...eventFacts(event, task),
  };
}

/** A status is of whichever run was active, which a reader who begins in the middle of a log could not tell. */
function namesRun(event: StoredEvent): boolean {
  return event.kind !== 'status-changed';
}

function eventFacts(event: StoredEvent, task: Task): JsonObject {
  const place = { contextId: task.contextId, taskId: task.id };
  switch (event.kind) {
    case 'task-created':
      return {};
    case 'message-received':
      return { turn: event.turnNo, message: encodeMessage(event.message, place) };
    case 'status-changed':
      return {
        state: taskStateName(event.state),
        ...(event.message === undefined ? {} : { message: encodeMessage(event.message, place) }),
        ...(event.errorId === undefined ? {} : { errorId: event.errorId }),
      };
    case 'artifact-updated':
      return {
        turn: event.turnNo,
        origin: event.origin,
        artifact: encodeArtifactPiece(event.artifactId, event.header ?? {}, event.parts),
        append: event.append,
        lastChunk: event.lastChunk,
      };
    case 'artifact-discarded':
      return { artifactId: event.artifactId };
    default:
      return workFacts(event);
  }
}

type WorkEvent = Exclude<
  StoredEvent,
  { kind: 'task-created' | 'message-received' | 'status-changed' | 'artifact-updated' | 'artifact-discarded' }
>;

/** What the engine and the clock did. */
function workFacts(event: WorkEvent): JsonObject {
  switch (event.kind) {
    case 'cancel-requested':
      return { by: event.by };
    case 'run-started':
      return { turn: event.turnNo, attempt: event.attempt };
    case 'run-settled':
      return {
        turn: event.turnNo,
        outcome: event.outcome,
        ...(event.reason === undefined ? {} : { reason: event.reason }),
      };
    case 'question-asked':
      return { askId: event.askId, question: event.question };
    case 'question-answered':
      return { askId: event.askId, how: event.how };
    case 'timer-set':
      return { key: event.key, wakeAt: formatInstant(event.wakeAt) };
    case 'timer-fired':
      return { key: event.key };
    case 'message-dropped':
      return { turn: event.turnNo, messageId: event.messageId };
    case 'unknown':
      return {};
    default:
      return unreachable(event);
  }
}
