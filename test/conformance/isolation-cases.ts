import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import type { AgentName, ArtifactId, ContextId, MessageId, TaskId } from '../../src/model/ids.ts';
import type { Scope } from '../../src/model/scope.ts';
import type { ScopedStore } from '../../src/store/contract.ts';
import type { MemoryId } from '../../src/store/memory-contract.ts';
import {
  AGENT,
  chunk,
  endWrite,
  eventFacts,
  fingerprintOf,
  OTHER_AGENT,
  OTHER_SCOPE,
  SCOPE,
  type StoreWorld,
  status,
} from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

interface Names {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  readonly messageId: MessageId;
}

const ABSENT: Names = {
  taskId: 'absent' as TaskId,
  contextId: 'absent' as ContextId,
  messageId: 'absent' as MessageId,
};

/** What every method of a ScopedStore answers about these names. */
async function answers(scoped: ScopedStore, names: Names): Promise<unknown> {
  const { taskId } = names;
  return {
    readTask: await scoped.readTask(taskId),
    readSnapshot: await scoped.readSnapshot(taskId, { artifacts: true }),
    listRuns: await scoped.listRuns(taskId),
    listTurns: await scoped.listTurns(taskId),
    listArtifacts: await scoped.listArtifacts(taskId),
    readArtifact: await scoped.readArtifact(taskId, 'artifact' as ArtifactId),
    command: await scoped.command(taskId, 6 as never, { events: [status('working')] }),
    readSession: await scoped.readSession(names.contextId),
    findMessage: await scoped.findMessage(names.messageId),
    listTasks: await scoped.listTasks({ pageItems: 10 }),
    listTasksOfContext: await scoped.listTasks({ pageItems: 10, contextId: names.contextId }),
    countTasks: await scoped.countTasks({}),
    listSessions: await scoped.listSessions({ pageItems: 10 }),
    memories: await scoped.memories.list({ itemsMax: 10 }),
    memory: await scoped.memories.read('memory' as MemoryId),
    search: await scoped.memories.search({ text: 'sea', itemsMax: 10 }),
    finishReply: await scoped.finishReply({
      messageId: names.messageId,
      fence: 1 as never,
      reply: '{}',
      keepMs: 1,
      memoryWrites: [],
    }),
    dropReply: await scoped.dropReply({ messageId: names.messageId, fence: 1 as never }),
  };
}

async function fill(world: StoreWorld, live: boolean): Promise<Names & { readonly no: never }> {
  const messageId = world.id<MessageId>('message');
  const { task, grant } = await world.start({ messageId });
  await world.store.append(grant, { emitNo: 0, facts: eventFacts(chunk(grant)) });
  if (!live) await world.settle(grant, endWrite(grant, 'completed'), 1);
  const memory = { id: 'memory' as MemoryId, text: 'the sea' };
  await world.scoped().memories.write([{ kind: 'remember', memory }]);
  return { taskId: task.id, contextId: task.contextId, messageId, no: task.no as never };
}

/** Bytes that no compression makes fewer. */
const longest = (bytes: number): string => randomBytes(bytes).toString('base64').slice(0, bytes);

function describeLongestKeys(open: OpenWorld): void {
  test('the longest agent, scope, ids and keys that any door lets in are taken', async () => {
    const world = await open();
    const agent = longest(63) as AgentName;
    const scope = longest(limits.keyBytesMax) as Scope;
    // Three bytes each, and more than any other character takes of what an id is counted in.
    const widest = String.fromCharCode(...Array.from(randomBytes(limits.idCharsMax), (byte) => 0x4e00 + 64 * byte));
    const contextId = widest as ContextId;
    const messageId = widest as MessageId;
    const { task, grant } = await world.start({ agent, scope, contextId, messageId });
    const key = longest(limits.keyBytesMax);
    await world.store.append(grant, { emitNo: 0, facts: [{ kind: 'session-state', key, value: '1' }] });
    expect(await world.store.readSessionState(task.sessionNo, key)).toBe('1');
    const scoped = world.scoped(agent, scope);
    expect(await scoped.findMessage(messageId)).toMatchObject({ state: 'task', taskId: task.id });
    expect((await scoped.listSessions({ pageItems: 9 })).items).toMatchObject([{ contextId }]);
    const memory = { id: 'memory' as MemoryId, text: 'the sea' };
    await scoped.memories.write([
      { kind: 'remember', memory },
      { kind: 'grant', id: memory.id, to: scope },
    ]);
    expect(await scoped.memories.grantsOf(memory.id)).toEqual([scope]);
  });
}

/** The other scope's name begins with this one's, and the agents share a beginning too: equality alone tells them apart. */
export function describeIsolation(open: OpenWorld): void {
  describeLongestKeys(open);
  describe('isolation: what is foreign is answered as what is absent', () => {
    const others = [
      ['for another scope', AGENT, OTHER_SCOPE],
      ['for another agent', OTHER_AGENT, SCOPE],
      ['for a scope that is a prefix', AGENT, 'user=' as never],
      ['for a scope in other letters', AGENT, 'USER=A' as never],
      ['for a scope with a space after it', AGENT, 'user=a ' as never],
      ['for a scope with a wildcard', AGENT, 'user=%' as never],
    ] as const;
    test.each(['a live', 'an ended'])('%s task', async (which) => {
      const world = await open();
      const names = await fill(world, which === 'a live');
      const own = { ...names, id: names.taskId, agent: AGENT, scope: SCOPE } as never;
      const before = await world.everything(own);
      for (const [what, agent, scope] of others) {
        const foreign = world.scoped(agent, scope);
        const absent = await answers(foreign, ABSENT);
        expect(await answers(foreign, names), what).toEqual(absent);
        expect(absent, what).toMatchObject({ command: { kind: 'gone' }, countTasks: 0, finishReply: false });
        expect(await world.everything(own), what).toEqual(before);
      }
    });

    test('a held message, for another scope', async () => {
      const world = await open();
      const { workerNo } = await world.worker();
      const messageId = 'held' as MessageId;
      const held = await world.scoped().beginReply({ messageId, fingerprint: fingerprintOf('a'), workerNo });
      if (held.kind !== 'begun') throw new Error(held.kind);
      const foreign = world.scoped(AGENT, OTHER_SCOPE);
      expect(await foreign.findMessage(messageId)).toBeUndefined();
      const finish = { messageId, fence: held.fence, reply: '{}', keepMs: 1_000, memoryWrites: [] };
      expect(await foreign.finishReply(finish)).toBe(false);
      await foreign.dropReply(finish);
      expect(await world.scoped().finishReply(finish)).toBe(true);
    });

    test('ids that only look alike are different', async () => {
      const world = await open();
      const ids = ['a', 'A', 'a ', ' a', '\u00e9', 'e\u0301', 'ß', 'ss', 'ａ', '%', '_', "'", 'x'.repeat(256)];
      for (const id of ids) await world.submit({ contextId: id as ContextId, messageId: id as MessageId });
      expect((await world.scoped().listSessions({ pageItems: 100 })).items).toHaveLength(ids.length);
      for (const id of ids) {
        expect(await world.scoped().readSession(id as ContextId)).toMatchObject({ contextId: id });
        expect(await world.scoped().countTasks({ contextId: id as ContextId })).toBe(1);
        const message = await world.scoped().findMessage(id as MessageId);
        const view = message?.state === 'task' ? await world.scoped().readTask(message.taskId) : undefined;
        expect(view).toMatchObject({ task: { contextId: id }, turn: { messageId: id } });
      }
    });

    test('a scope sees its own beside the others', async () => {
      const world = await open();
      await fill(world, true);
      const { task } = await world.submit({ scope: OTHER_SCOPE, contextId: 'mine' as ContextId });
      const other = world.scoped(AGENT, OTHER_SCOPE);
      expect((await other.listTasks({ pageItems: 10 })).items).toEqual([task]);
      expect((await other.listSessions({ pageItems: 10 })).items).toMatchObject([{ contextId: 'mine' }]);
      expect(await other.countTasks({})).toBe(1);
    });
  });
}
