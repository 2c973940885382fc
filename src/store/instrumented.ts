import type { AgentName } from '../model/ids.ts';
import type { Scope } from '../model/scope.ts';
import type { ScopedStore, SystemStore } from './contract.ts';
import type { MemoryStore } from './memory-contract.ts';

/** Runs a call of the store under its name: times it, counts it, and lets what it gives or throws go through. */
export type Measure = <Result>(name: string, call: () => Promise<Result>) => Promise<Result>;

/** A scoped store holds no rows, so those of busy scopes are made once. */
const SCOPES_KEPT_MAX = 1_000;

/** The same store with every call measured, once for all adapters. Doors get scoped stores that are measured too. */
export function instrumentStore(inner: SystemStore, measure: Measure): SystemStore {
  const { leasedTo } = inner;
  const agents = new Map<AgentName, Map<Scope, ScopedStore>>();
  return {
    name: inner.name,
    scoped(agent, scope) {
      const scopes = agents.get(agent) ?? new Map<Scope, ScopedStore>();
      agents.set(agent, scopes);
      const known = scopes.get(scope);
      if (known !== undefined) return known;
      if (scopes.size >= SCOPES_KEPT_MAX) scopes.clear();
      const scoped = instrumentScoped(inner.scoped(agent, scope), measure);
      scopes.set(scope, scoped);
      return scoped;
    },
    ...instrumentWorkers(inner, measure),
    ...instrumentRuns(inner, measure),
    ...instrumentReads(inner, measure),
    ...instrumentBlobs(inner, measure),
    ...(leasedTo === undefined
      ? {}
      : { leasedTo: (workerNo) => measure('leasedTo', () => leasedTo.call(inner, workerNo)) }),
    close: () => inner.close(),
  };
}

type Workers = 'installation' | 'now' | 'registerWorker' | 'renewWorker' | 'buryWorkers' | 'retireWorker';

function instrumentWorkers(inner: SystemStore, measure: Measure): Pick<SystemStore, Workers> {
  return {
    installation: () => measure('installation', () => inner.installation()),
    now: () => measure('now', () => inner.now()),
    registerWorker: (request) => measure('registerWorker', () => inner.registerWorker(request)),
    renewWorker: (request) => measure('renewWorker', () => inner.renewWorker(request)),
    buryWorkers: (request) => measure('buryWorkers', () => inner.buryWorkers(request)),
    retireWorker: (workerNo) => measure('retireWorker', () => inner.retireWorker(workerNo)),
  };
}

type Runs = 'claim' | 'nextRunnableAt' | 'append' | 'settle' | 'command' | 'dueDeadlines' | 'dueTimers' | 'orphans';

function instrumentRuns(inner: SystemStore, measure: Measure): Pick<SystemStore, Runs> {
  return {
    claim: (request) => measure('claim', () => inner.claim(request)),
    nextRunnableAt: (agents) => measure('nextRunnableAt', () => inner.nextRunnableAt(agents)),
    append: (grant, batch) => measure('append', () => inner.append(grant, batch)),
    settle: (grant, request) => measure('settle', () => inner.settle(grant, request)),
    command: (taskNo, headSeq, write) => measure('command', () => inner.command(taskNo, headSeq, write)),
    dueDeadlines: (itemsMax) => measure('dueDeadlines', () => inner.dueDeadlines(itemsMax)),
    dueTimers: (itemsMax) => measure('dueTimers', () => inner.dueTimers(itemsMax)),
    orphans: (itemsMax) => measure('orphans', () => inner.orphans(itemsMax)),
  };
}

type Reads = 'readView' | 'readTurn' | 'readEvents' | 'readHeads' | 'readSessionState' | 'listTasks' | 'stats';

function instrumentReads(inner: SystemStore, measure: Measure): Pick<SystemStore, Reads> {
  return {
    readView: (taskNo) => measure('readView', () => inner.readView(taskNo)),
    readTurn: (grant) => measure('readTurn', () => inner.readTurn(grant)),
    readEvents: (taskNo, range) => measure('readEvents', () => inner.readEvents(taskNo, range)),
    readHeads: (tasks) => measure('readHeads', () => inner.readHeads(tasks)),
    readSessionState: (sessionNo, key) => measure('readSessionState', () => inner.readSessionState(sessionNo, key)),
    listTasks: (query) => measure('listTasks', () => inner.listTasks(query)),
    stats: () => measure('stats', () => inner.stats()),
  };
}

type Blobs = 'stageSlice' | 'readBlobSlice' | 'dropStagedBlobs';

function instrumentBlobs(inner: SystemStore, measure: Measure): Pick<SystemStore, Blobs> {
  return {
    stageSlice: (request) => measure('stageSlice', () => inner.stageSlice(request)),
    readBlobSlice: (blobNo, sliceNo) => measure('readBlobSlice', () => inner.readBlobSlice(blobNo, sliceNo)),
    dropStagedBlobs: (request) => measure('dropStagedBlobs', () => inner.dropStagedBlobs(request)),
  };
}

function instrumentScoped(inner: ScopedStore, measure: Measure): ScopedStore {
  return {
    ...instrumentScopedReads(inner, measure),
    ...instrumentScopedLists(inner, measure),
    findMessage: (messageId) => measure('scoped.findMessage', () => inner.findMessage(messageId)),
    openSession: (request) => measure('scoped.openSession', () => inner.openSession(request)),
    submit: (request) => measure('scoped.submit', () => inner.submit(request)),
    command: (taskId, headSeq, write) => measure('scoped.command', () => inner.command(taskId, headSeq, write)),
    beginReply: (request) => measure('scoped.beginReply', () => inner.beginReply(request)),
    finishReply: (request) => measure('scoped.finishReply', () => inner.finishReply(request)),
    dropReply: (request) => measure('scoped.dropReply', () => inner.dropReply(request)),
    memories: instrumentMemories(inner.memories, measure),
  };
}

type ScopedReads = 'readTask' | 'readSnapshot' | 'readSession' | 'readArtifact';

function instrumentScopedReads(inner: ScopedStore, measure: Measure): Pick<ScopedStore, ScopedReads> {
  return {
    readTask: (taskId) => measure('scoped.readTask', () => inner.readTask(taskId)),
    readSnapshot: (taskId, want) => measure('scoped.readSnapshot', () => inner.readSnapshot(taskId, want)),
    readSession: (contextId) => measure('scoped.readSession', () => inner.readSession(contextId)),
    readArtifact: (taskId, artifactId) => measure('scoped.readArtifact', () => inner.readArtifact(taskId, artifactId)),
  };
}

type ScopedLists = 'listTasks' | 'countTasks' | 'listSessions' | 'listRuns' | 'listTurns' | 'listArtifacts';

function instrumentScopedLists(inner: ScopedStore, measure: Measure): Pick<ScopedStore, ScopedLists> {
  return {
    listTasks: (query) => measure('scoped.listTasks', () => inner.listTasks(query)),
    countTasks: (query) => measure('scoped.countTasks', () => inner.countTasks(query)),
    listSessions: (query) => measure('scoped.listSessions', () => inner.listSessions(query)),
    listRuns: (taskId) => measure('scoped.listRuns', () => inner.listRuns(taskId)),
    listTurns: (taskId) => measure('scoped.listTurns', () => inner.listTurns(taskId)),
    listArtifacts: (taskId) => measure('scoped.listArtifacts', () => inner.listArtifacts(taskId)),
  };
}

function instrumentMemories(inner: MemoryStore, measure: Measure): MemoryStore {
  return {
    write: (writes) => measure('memories.write', () => inner.write(writes)),
    search: (query) => measure('memories.search', () => inner.search(query)),
    read: (id) => measure('memories.read', () => inner.read(id)),
    list: (query) => measure('memories.list', () => inner.list(query)),
    grantsOf: (id) => measure('memories.grantsOf', () => inner.grantsOf(id)),
  };
}
