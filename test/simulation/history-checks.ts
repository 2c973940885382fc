import { assert } from '../../src/base/assert.ts';
import type { StoredEvent } from '../../src/model/event.ts';
import type { Seq, TaskNo } from '../../src/model/ids.ts';
import { textOf } from '../../src/model/message.ts';
import type { Run } from '../../src/model/run.ts';
import { isTerminal, type Task } from '../../src/model/task.ts';
import { emptyContent, foldContent } from '../../src/model/task-fold.ts';
import type { TaskView } from '../../src/model/task-view.ts';
import { checkLog, checkView } from '../../src/testing/task-invariants.ts';
import type { Clients, SentMessage } from './clients.ts';
import { type SimulatedNode, simulatedConfig, type World } from './simulated-node.ts';

interface Ended {
  readonly task: Task;
  readonly view: TaskView;
  readonly log: readonly StoredEvent[];
  readonly runs: readonly Run[];
}

/** Everything that must hold of a history that is over; gives its logs. */
export async function checkHistory(
  world: World,
  history: { readonly clients: Clients; readonly nodes: readonly SimulatedNode[] },
): Promise<readonly (readonly StoredEvent[])[]> {
  const ended = await readTasks(world);
  for (const each of ended) {
    const { task, log } = each;
    const received = log.flatMap((event) => (event.kind === 'message-received' ? [event.message.messageId] : []));
    inTask(each, () => {
      checkView(each.view, { queuedMax: simulatedConfig.queuedTurnsMax });
      checkLog(log, task, received);
      checkRunsOfEvents(each);
      checkEnd(each);
      checkTranscripts(world, each);
    });
  }
  checkSessions(ended);
  checkMessages(history.clients, ended);
  checkFollowers(history.clients, ended);
  checkLeaks(world, history.nodes);
  return ended.map(({ log }) => log);
}

async function readTasks({ store }: World): Promise<readonly Ended[]> {
  const ended: Ended[] = [];
  for (let no = 1; ; no += 1) {
    const view = await store.readView(no as TaskNo);
    if (view === undefined) return ended;
    const { task } = view;
    const range = { after: 0 as Seq, eventsMax: 100_000, bytesMax: 1e9 };
    const log = (await store.readEvents(task.no, range)) ?? [];
    const runs = (await store.scoped(task.agent, task.scope).listRuns(task.id)) ?? [];
    ended.push({ task, view, log, runs });
  }
}

function inTask({ task, log }: Pick<Ended, 'task' | 'log'>, check: () => void): void {
  try {
    check();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`task ${task.no} (${task.id}, ${task.agent}): ${text}\n${log.map(logLine).join('\n')}`);
  }
}

function logLine(event: StoredEvent): string {
  const { seq, at, kind, ...rest } = event;
  return `  ${seq} at ${at % 10_000_000} ${kind} ${JSON.stringify(rest).slice(0, 160)}`;
}

/** What a run writes stands between its start and its settlement: a fenced run writes nothing after its successor began. */
function checkRunsOfEvents({ log, runs }: Ended): void {
  const numbers = new Map(runs.map((run) => [run.id, run.no]));
  let running: Run['no'] | undefined;
  for (const event of log) {
    if (event.kind === 'run-started') running = numbers.get(event.runId);
    else if (event.kind === 'artifact-updated') {
      assert(event.runNo === running, `event ${event.seq} was written by run ${event.runNo}, not ${running}`);
    } else if (event.kind === 'run-settled') running = undefined;
  }
}

/** A task ends as it was told to. Nobody may time out for want of a worker: there was one, and time enough. */
function checkEnd({ task, log }: Ended): void {
  const isCancelAsked = log.some((event) => event.kind === 'cancel-requested');
  assert(
    isCancelAsked === (task.state === 'canceled'),
    `a task whose cancel was ${isCancelAsked ? '' : 'not '}asked for is ${task.state}`,
  );
  const settled = log.findLast((event) => event.kind === 'run-settled');
  const end = log.at(-1);
  assert(end?.kind === 'status-changed', 'the last event is a status');
  const words = textOf(end.message?.parts ?? []);
  if (task.state !== 'failed') return;
  assert(!/no sign of life|no worker could/.test(words), `it failed: ${words}`);
  const isOwn = settled?.kind === 'run-settled' && settled.outcome === 'failed';
  if (isOwn && end.errorId !== undefined) {
    assert(
      log.some((event) => event.kind === 'message-received' && /"throw"|"fails":5/.test(textOf(event.message.parts))),
      `it failed by itself: ${words}`,
    );
  }
}

/** The artifact of every turn that succeeded is what its last run said from the top, and no run had to replace it. */
function checkTranscripts({ ledger }: World, { log, task }: Ended): void {
  const { artifacts } = log.reduce(foldContent, emptyContent);
  if (task.state === 'completed') {
    assert(
      artifacts.every(({ closedSeq }) => closedSeq !== undefined),
      'a completed task leaves no artifact half',
    );
  }
  const outs = new Set(artifacts.filter(({ header }) => header.name === 'out').map(({ artifactId }) => artifactId));
  const opened = new Set<string>();
  for (const event of log) {
    if (event.kind !== 'artifact-updated' || !outs.has(event.artifactId) || event.append) continue;
    assert(!opened.has(event.artifactId), `artifact ${event.artifactId} is replaced at ${event.seq}`);
    opened.add(event.artifactId);
  }
  const started = new Map(
    log.flatMap((event) => (event.kind === 'run-started' ? [[event.runId, event] as const] : [])),
  );
  const messages = new Map(
    log
      .flatMap((event) => (event.kind === 'message-received' ? [[event.turnNo, event.message.messageId] as const] : []))
      .toReversed(),
  );
  for (const event of log) {
    if (event.kind !== 'run-settled' || !(event.outcome === 'succeeded' || event.outcome === 'interrupted')) continue;
    const attempt = started.get(event.runId)?.attempt ?? 0;
    const messageId = messages.get(event.turnNo);
    if (task.state === 'canceled') continue;
    const said = messageId === undefined ? undefined : ledger.textOf({ taskId: task.id, messageId, attempt });
    const artifact = artifacts.find(({ header, turnNo }) => header.name === 'out' && turnNo === event.turnNo);
    const kept = textOf(artifact?.parts ?? []).replaceAll('\n', '');
    assert(kept === said, `turn ${event.turnNo} kept "${kept}" of "${said}"`);
    assert(artifact?.closedSeq !== undefined, `the artifact of turn ${event.turnNo} is closed`);
  }
}

/** A context is one session in its agent and scope, and another everywhere else. */
function checkSessions(ended: readonly Ended[]): void {
  const sessions = new Map<string, string>();
  for (const { task } of ended) {
    const context = `${task.agent}/${task.scope}/${task.contextId}`;
    const session = `${task.sessionNo}/${task.threadId}`;
    assert((sessions.get(context) ?? session) === session, `context ${context} has two sessions`);
    sessions.set(context, session);
  }
  assert(new Set(sessions.values()).size === sessions.size, 'a session belongs to one context');
}

/** Every message that was acknowledged is in the log it went to, once; none is in two. */
function checkMessages({ sent }: Clients, ended: readonly Ended[]): void {
  const places = new Map<string, number[]>();
  for (const { task, log } of ended) {
    for (const event of log) {
      if (event.kind !== 'message-received') continue;
      const key = `${task.agent}/${task.scope}/${event.message.messageId}`;
      places.set(key, [...(places.get(key) ?? []), task.no]);
    }
  }
  for (const [key, found] of places) assert(found.length === 1, `message ${key} is in tasks ${found.join()}`);
  for (const message of sent) checkTaken(message, ended);
}

function checkTaken({ messageId, taken, contents }: SentMessage, ended: readonly Ended[]): void {
  if (taken?.what.kind !== 'task') return;
  const { taskNo, messageSeq } = taken.what;
  const event = ended.find(({ task }) => task.no === taskNo)?.log[messageSeq - 1];
  assert(event?.kind === 'message-received', `message ${messageId} is not where it was said to be`);
  assert(event.message.messageId === messageId, `another message stands in place of ${messageId}`);
  assert(
    JSON.stringify(event.message.parts) === JSON.stringify(contents[taken.content]),
    `message ${messageId} says something else`,
  );
}

/** What a follower saw is the log, from its place on. */
function checkFollowers({ followers }: Clients, ended: readonly Ended[]): void {
  for (const follower of followers) {
    const log = ended.find(({ task }) => task.no === follower.task.taskNo)?.log ?? [];
    const part = log.slice(follower.after, follower.place);
    assert(
      JSON.stringify(part) === JSON.stringify(follower.seen),
      `a follower of ${follower.task.taskId} saw another log`,
    );
    if (follower.state !== 'ended') continue;
    const last = log.at(-1);
    assert(
      follower.place === log.length,
      `a follower of ${follower.task.taskId} ended at ${follower.place} of ${log.length}`,
    );
    assert(last?.kind === 'status-changed' && isTerminal(last.state), 'a log ends with its terminal status');
  }
}

/** A process that has stopped leaves no timer, no follower and no run. */
function checkLeaks(world: World, nodes: readonly SimulatedNode[]): void {
  assert(
    world.clock.sleeping === 0 || nodes.some(({ clock }) => clock.state === 'dead'),
    `${world.clock.sleeping} timers are left`,
  );
  for (const { clock, system, name } of nodes) {
    if (clock.state === 'dead' || system === undefined) continue;
    assert(system.hub.counts().followers === 0, `${name} has followers after it stopped`);
    assert(system.engine.held().length === 0, `${name} holds runs after it stopped`);
  }
}
