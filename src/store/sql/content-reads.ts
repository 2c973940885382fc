import { EVENT_KIND_NUMBERS } from '../../model/event.ts';
import type { Dialect, Statement } from './dialect.ts';

const EVENT_COLUMNS = 'e.seq, e.kind, e.artifact_id, e.run_no, e.at, e.payload';
const ARTIFACT_COLUMNS = 'artifact_id, origin, turn_no, run_no, base_seq, closed_seq, header';

const { 'message-received': MESSAGE, 'status-changed': STATUS, 'artifact-updated': CHUNK } = EVENT_KIND_NUMBERS;

export function selectEvent(d: Dialect, taskNo: number, seq: number): Statement {
  const text = `select ${EVENT_COLUMNS}
    from ${d.table('event')} e
    where e.task_no = ${d.param(1)} and e.seq = ${d.param(2)}`;
  return { text, values: [taskNo, seq] };
}

/** Messages and statuses, newest first, before `before`. Rides on `event_history`. */
export function selectSpeechBefore(
  d: Dialect,
  taskNo: number,
  range: { readonly before: number; readonly eventsMax: number },
): Statement {
  const text = `select ${EVENT_COLUMNS}
    from ${d.table('event')} e
    where e.task_no = ${d.param(1)} and e.kind in (${MESSAGE}, ${STATUS}) and e.seq < ${d.param(2)}
    order by e.seq desc
    limit ${d.param(3)}`;
  return { text, values: [taskNo, range.before, range.eventsMax] };
}

/** In the order in which they were opened; one that was replaced keeps its place. */
export function selectArtifacts(d: Dialect, taskNo: number): Statement {
  const text = `select ${ARTIFACT_COLUMNS}
    from ${d.table('artifact')}
    where task_no = ${d.param(1)}
    order by opened_seq`;
  return { text, values: [taskNo] };
}

export function selectArtifact(d: Dialect, taskNo: number, artifactId: string): Statement {
  const text = `select ${ARTIFACT_COLUMNS}
    from ${d.table('artifact')}
    where task_no = ${d.param(1)} and artifact_id = ${d.param(2)}`;
  return { text, values: [taskNo, artifactId] };
}

/** The updates that are the content of the task's artifacts, in order. What a replace has superseded is not read. */
export function selectChunks(d: Dialect, taskNo: number): Statement {
  const text = `select ${EVENT_COLUMNS}
    from ${d.table('event')} e
    join ${d.table('artifact')} a
      on a.task_no = e.task_no and a.artifact_id = e.artifact_id and e.seq >= a.base_seq
    where e.task_no = ${d.param(1)} and e.kind = ${CHUNK}
      and e.seq >= (select min(base_seq) from ${d.table('artifact')} where task_no = ${d.param(1)})
    order by e.seq`;
  return { text, values: [taskNo] };
}

/** The updates that are the content of one artifact, in order. */
export function selectChunksOf(
  d: Dialect,
  taskNo: number,
  artifact: { readonly artifactId: string; readonly baseSeq: number },
): Statement {
  const text = `select ${EVENT_COLUMNS}
    from ${d.table('event')} e
    where e.task_no = ${d.param(1)} and e.seq >= ${d.param(2)}
      and e.kind = ${CHUNK} and e.artifact_id = ${d.param(3)}
    order by e.seq`;
  return { text, values: [taskNo, artifact.baseSeq, artifact.artifactId] };
}
