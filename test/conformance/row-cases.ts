import { describe, expect, test } from 'vitest';
import { instant } from '../../src/base/clock.ts';
import type { Fence, RunNo, TurnNo, WorkerNo } from '../../src/model/ids.ts';
import type { JournalWrite, TaskWrite } from '../../src/model/task-write.ts';
import type { Grant } from '../../src/store/contract.ts';
import type { StoreWorld } from './builders.ts';
import {
  endWrite,
  FIRST_TURN,
  nextRunWrite,
  parkWrite,
  REFUSED,
  received,
  settled,
  status,
  userMessage,
} from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

const SECOND_TURN = 2 as TurnNo;

/** The rows that hang on a task: runs, turns, the journal. They change with its events or not at all. */
export function describeRows(open: OpenWorld): void {
  describe('rows of a write', () => {
    describeRuns(open);
    describeTurns(open);
    describeOvertakenTurns(open);
    describeJournal(open);
    describeImpossibleRows(open);
  });
}

function describeRuns(open: OpenWorld): void {
  test('a parked run waits for a key, a time, or both', async () => {
    const world = await open();
    const wakeAt = instant(world.clock.now() + 60_000);
    for (const wake of [{ wakeKey: 'ask:x' }, { wakeAt }, { wakeKey: 'ask:x', wakeAt }]) {
      const { task, grant } = await world.start();
      const after = await world.settle(grant, parkWrite(grant, wake));
      expect(after.fence).toBe(grant.fence + 1);
      const { run } = await world.view(grant);
      expect(run).toEqual({
        no: grant.runNo,
        id: grant.runId,
        turnNo: 1,
        attempt: 1,
        startedAt: task.headAt,
        state: 'waiting',
        wake: {
          ...('wakeAt' in wake ? { at: wake.wakeAt } : {}),
          ...('wakeKey' in wake ? { key: wake.wakeKey } : {}),
        },
      });
    }
  });

  test('a run that settled keeps its outcome and reason; the next attempt is queued in the same write', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const run = world.run({ delayMs: 5_000 });
    await world.clock.advance(1_000);
    const write = nextRunWrite(grant, 'lost', run);
    const [settle, queue] = write.runs ?? [];
    const runs = [{ ...settle, reason: 'its worker died' }, queue] as NonNullable<TaskWrite['runs']>;
    await world.command(task, { ...write, runs });
    const now = world.clock.now();
    expect(await world.scoped().listRuns(task.id)).toEqual([
      {
        no: grant.runNo,
        id: grant.runId,
        turnNo: 1,
        attempt: 1,
        startedAt: task.headAt,
        state: 'settled',
        outcome: 'lost',
        reason: 'its worker died',
        settledAt: now,
      },
      { no: expect.any(Number), id: run.id, turnNo: 1, attempt: 2, state: 'queued', runnableAt: now + 5_000 },
    ]);
  });

  test('a run that never started settles without a start', async () => {
    const world = await open();
    const { task } = await world.submit();
    const view = await world.scoped().readTask(task.id);
    const run = view?.run;
    await world.command(task, {
      events: [status('canceled')],
      runs: [{ kind: 'settle', runNo: run?.no as RunNo, outcome: 'canceled' }],
      turns: [{ kind: 'settle', turnNo: FIRST_TURN }],
      revokeFence: true,
    });
    const [settledRun] = (await world.scoped().listRuns(task.id)) ?? [];
    expect(settledRun).toEqual({
      no: run?.no,
      id: run?.id,
      turnNo: 1,
      attempt: 1,
      state: 'settled',
      outcome: 'canceled',
      settledAt: world.clock.now(),
    });
    expect((await world.scoped().readTask(task.id))?.run).toBeUndefined();
  });
}

async function enqueue(world: StoreWorld, task: { readonly no: never }, turnNo: number): Promise<void> {
  const turn = world.turn({ turnNo: turnNo as TurnNo, messageOrdinal: 1 });
  await world.command(task, {
    events: [received(userMessage(turn.messageId), turn.turnNo)],
    turns: [{ kind: 'enqueue', turn }],
  });
}

/** What a first turn that its handler ended interrupted writes. */
function interruptedWrite(grant: Grant): TaskWrite {
  return {
    events: [settled(grant, 'interrupted'), status('input-required')],
    runs: [{ kind: 'settle', runNo: grant.runNo, outcome: 'interrupted' }],
    turns: [{ kind: 'settle', turnNo: FIRST_TURN }],
    revokeFence: true,
  };
}

function describeTurns(open: OpenWorld): void {
  test('a queued turn waits until it is activated, oldest first', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await enqueue(world, task as never, 2);
    await enqueue(world, task as never, 3);
    const view = await world.view(grant);
    expect(view.turn).toMatchObject({ turnNo: 1, state: 'current' });
    expect(view.queued).toMatchObject([
      { turnNo: 2, state: 'queued', messageSeq: 6 },
      { turnNo: 3, state: 'queued', messageSeq: 7 },
    ]);
    expect(view.task.turnNo).toBe(3);

    const run = world.run({ turnNo: SECOND_TURN });
    await world.settle(grant, {
      events: [settled(grant, 'succeeded')],
      runs: [
        { kind: 'settle', runNo: grant.runNo, outcome: 'succeeded' },
        { kind: 'queue', run },
      ],
      turns: [
        { kind: 'settle', turnNo: FIRST_TURN },
        { kind: 'activate', turnNo: SECOND_TURN },
      ],
      revokeFence: true,
    });
    const next = await world.view(grant);
    expect(next.turn).toMatchObject({ turnNo: 2, state: 'current' });
    expect(next.queued).toMatchObject([{ turnNo: 3 }]);
    expect(next.run).toMatchObject({ id: run.id, state: 'queued', turnNo: 2, attempt: 1 });
    const [granted] = await world.claim(await world.worker());
    expect(granted?.turn).toMatchObject({ turnNo: 2, attempts: 1, messageSeq: 6 });
    expect(granted && (await world.store.readTurn(granted)).message).toMatchObject({ seq: 6, turnNo: 2 });
  });

  test('the row knows the highest turn, in whatever order they come', async () => {
    const world = await open();
    const { task } = await world.start();
    const third = world.turn({ turnNo: 3 as TurnNo, messageOrdinal: 1 });
    const second = world.turn({ turnNo: SECOND_TURN, messageOrdinal: 2 });
    const after = await world.command(task, {
      events: [
        received(userMessage(third.messageId), third.turnNo),
        received(userMessage(second.messageId), SECOND_TURN),
      ],
      turns: [
        { kind: 'enqueue', turn: third },
        { kind: 'enqueue', turn: second },
      ],
    });
    expect(after.turnNo).toBe(3);
    const turns = await world.scoped().listTurns(task.id);
    expect(turns?.map(({ turnNo, messageSeq }) => [turnNo, messageSeq])).toEqual([
      [1, 2],
      [2, 7],
      [3, 6],
    ]);
  });

  test('a dropped turn is over', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await enqueue(world, task as never, 2);
    const write = endWrite(grant, 'failed');
    await world.settle(grant, { ...write, turns: [...(write.turns ?? []), { kind: 'drop', turnNo: SECOND_TURN }] });
    const view = await world.view(grant);
    expect(view.turn).toMatchObject({ turnNo: 1, state: 'settled' });
    expect(view.queued).toEqual([]);
    expect(await world.scoped().listTurns(task.id)).toMatchObject([
      { turnNo: 1, state: 'settled' },
      { turnNo: 2, state: 'dropped' },
    ]);
  });

  test('a turn that begins after another settled is the current one', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await world.settle(grant, interruptedWrite(grant));
    expect(await world.view(grant)).toMatchObject({ turn: { turnNo: 1, state: 'settled' }, queued: [], open: [] });
    const turn = world.turn({ turnNo: SECOND_TURN, messageOrdinal: 1, skill: 'other' });
    await world.command(task, {
      events: [received(userMessage(turn.messageId), turn.turnNo), status('working')],
      turns: [{ kind: 'begin', turn }],
      runs: [{ kind: 'queue', run: world.run({ turnNo: SECOND_TURN }) }],
    });
    expect((await world.view(grant)).turn).toMatchObject({
      turnNo: 2,
      state: 'current',
      messageId: turn.messageId,
      messageSeq: 8,
      skill: 'other',
    });
  });

  test('a crash is charged to the turn, an attempt is counted by its grant', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const write = nextRunWrite(grant, 'lost', world.run());
    await world.command(task, { ...write, turns: [{ kind: 'charge-crash', turnNo: FIRST_TURN }] });
    expect((await world.view(grant)).turn).toMatchObject({ attempts: 1, crashes: 1 });
    const [next] = await world.claim(await world.worker());
    expect(next?.turn).toMatchObject({ attempts: 2, crashes: 1 });
    expect((await world.view(grant)).turn).toMatchObject({ attempts: 2, crashes: 1 });
  });

  test('the encrypted message of a turn goes when the turn settles', async () => {
    const world = await open();
    const { grant, task } = await world.start({ input: Uint8Array.from([1, 2, 3]) });
    await world.settle(grant, interruptedWrite(grant));
    const turn = world.turn({ turnNo: SECOND_TURN, messageOrdinal: 1, input: Uint8Array.from([4]) });
    await world.command(task, {
      events: [received(userMessage(turn.messageId), turn.turnNo), status('working')],
      turns: [{ kind: 'begin', turn }],
      runs: [{ kind: 'queue', run: world.run({ turnNo: SECOND_TURN }) }],
    });
    const [next] = await world.claim(await world.worker());
    if (next === undefined) throw new Error('the second turn is runnable');
    expect(Array.from((await world.store.readTurn(next)).input ?? [])).toEqual([4]);
    // Nobody may read the first turn any more, so ask as if its run were the newest.
    const stale = { ...next, turn: grant.turn };
    expect(
      await world.store.readTurn(stale).then(
        (material) => material.input,
        () => undefined,
      ),
    ).toBeUndefined();
  });
}

function describeOvertakenTurns(open: OpenWorld): void {
  test('a queued turn that a later one went before is the current one when its time has come', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await enqueue(world, task as never, 2);
    await world.settle(grant, interruptedWrite(grant));
    const third = world.turn({ turnNo: 3 as TurnNo, messageOrdinal: 1 });
    await world.command(task, {
      events: [received(userMessage(third.messageId), third.turnNo), status('working')],
      turns: [{ kind: 'begin', turn: third }],
      runs: [{ kind: 'queue', run: world.run({ turnNo: third.turnNo }) }],
    });
    const [begun] = await world.claim(await world.worker());
    if (begun === undefined) throw new Error('the run of the third turn is runnable');
    await world.settle(begun, {
      events: [settled(begun, 'succeeded')],
      runs: [
        { kind: 'settle', runNo: begun.runNo, outcome: 'succeeded' },
        { kind: 'queue', run: world.run({ turnNo: SECOND_TURN }) },
      ],
      turns: [
        { kind: 'settle', turnNo: third.turnNo },
        { kind: 'activate', turnNo: SECOND_TURN },
      ],
      revokeFence: true,
    });
    const view = await world.view(grant);
    expect(view).toMatchObject({ turn: { turnNo: 2, state: 'current' }, run: { turnNo: 2 }, queued: [] });
  });
}

const entry = (key: string, more: Partial<JournalWrite> = {}): JournalWrite => ({
  turnNo: FIRST_TURN,
  key,
  kind: 'ask',
  state: 'open',
  ...more,
});

function describeJournal(open: OpenWorld): void {
  test('a row replaces the one under its key and keeps its place', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const dueAt = instant(world.clock.now() + 1_000);
    const question = { kind: 'ask', askId: 'ask:b', text: 'b?' };
    await world.command(task, { ...noEvent(), journal: [entry('ask:b', { dueAt, question }), entry('ask:a')] });
    const before = await world.store.readTurn(grant);
    expect(before.journal).toEqual([
      { key: 'ask:b', kind: 'ask', state: 'open', dueAt, question },
      { key: 'ask:a', kind: 'ask', state: 'open' },
    ]);
    await world.command(task, { ...noEvent(), journal: [entry('ask:b', { state: 'done', result: '"x"' })] });
    const after = await world.store.readTurn(grant);
    expect(after.journal).toEqual([
      { key: 'ask:b', kind: 'ask', state: 'done', result: '"x"' },
      { key: 'ask:a', kind: 'ask', state: 'open' },
    ]);
  });

  test('the view shows open suspensions of the current turn, oldest first', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await world.command(task, {
      ...noEvent(),
      journal: [
        entry('sleep:z', { kind: 'sleep', dueAt: instant(1) }),
        entry('authorize:y', { kind: 'authorize' }),
        entry('step:begun', { kind: 'step' }),
        entry('ask:x'),
        entry('ask:done', { state: 'done', result: '1' }),
        entry('ask:expired', { state: 'expired' }),
        entry('ask:declined', { state: 'declined' }),
      ],
    });
    const { open: shown } = await world.view(grant);
    expect(shown.map(({ key }) => key)).toEqual(['sleep:z', 'authorize:y', 'ask:x']);
    const material = await world.store.readTurn(grant);
    expect(material.journal.map(({ state }) => state)).toEqual(
      expect.arrayContaining(['open', 'done', 'expired', 'declined']),
    );
  });

  test('a turn has a journal of its own', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    await world.command(task, { ...noEvent(), journal: [entry('ask:x'), entry('ask:x', { turnNo: SECOND_TURN })] });
    expect((await world.view(grant)).open).toHaveLength(1);
    expect((await world.store.readTurn(grant)).journal).toHaveLength(1);
  });
}

/** A write needs an event to move the head; this one changes nothing else. */
function noEvent(): TaskWrite {
  return { events: [{ kind: 'timer-fired', key: 'x' }] };
}

function describeImpossibleRows(open: OpenWorld): void {
  const cases: readonly [string, (world: StoreWorld) => TaskWrite][] = [
    ['a second active run', (world) => ({ ...noEvent(), runs: [{ kind: 'queue', run: world.run({ attempt: 2 }) }] })],
    [
      'a second current turn',
      (world) => ({
        ...noEvent(),
        turns: [{ kind: 'begin', turn: world.turn({ turnNo: SECOND_TURN, messageOrdinal: 1 }) }],
      }),
    ],
    [
      'a turn number that is taken',
      (world) => ({
        ...noEvent(),
        turns: [{ kind: 'enqueue', turn: world.turn({ turnNo: FIRST_TURN, messageOrdinal: 1 }) }],
      }),
    ],
  ];
  test.each(cases)('%s is refused and nothing is written', async (_what, writeOf) => {
    const world = await open();
    const { task } = await world.start();
    const before = await world.everything(task);
    await expect(world.store.command(task.no, task.headSeq, writeOf(world))).rejects.toMatchObject(REFUSED);
    expect(await world.everything(task)).toEqual(before);
  });

  test('an attempt that a turn already had is refused and nothing is written', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const before = await world.everything(task);
    const runs: TaskWrite['runs'] = [
      { kind: 'settle', runNo: grant.runNo, outcome: 'lost' },
      { kind: 'queue', run: world.run({ attempt: 1 }) },
    ];
    await expect(world.store.command(task.no, task.headSeq, { ...noEvent(), runs })).rejects.toMatchObject(REFUSED);
    expect(await world.everything(task)).toEqual(before);
  });

  test('a run that waits for nothing is refused and nothing is written', async () => {
    const world = await open();
    const { task, grant } = await world.start();
    const before = await world.everything(task);
    const request = { emitNo: 0, facts: [], headSeq: task.headSeq, write: parkWrite(grant, {}) };
    await expect(world.store.settle(grant, request)).rejects.toMatchObject(REFUSED);
    expect(await world.everything(task)).toEqual(before);
    const still = { ...grant, fence: grant.fence as Fence, workerNo: grant.workerNo as WorkerNo };
    expect((await world.store.append(still, { emitNo: 0, facts: [] })).kind).toBe('written');
  });
}
