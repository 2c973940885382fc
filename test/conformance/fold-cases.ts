import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NewEvent, StoredEvent } from '../../src/model/event.ts';
import type { Seq, TurnNo } from '../../src/model/ids.ts';
import { isTerminal, type Task } from '../../src/model/task.ts';
import { emptyContent, foldContent, foldTask } from '../../src/model/task-fold.ts';
import type { Grant } from '../../src/store/contract.ts';
import {
  agentMessage,
  chunk,
  endWrite,
  eventFacts,
  nextRunWrite,
  parkWrite,
  received,
  type StoreWorld,
  status,
  text,
  userMessage,
  type Worker,
} from './builders.ts';
import type { OpenWorld } from './store-suite.ts';

/** One step of a history. A step that its task cannot take is passed over. */
type Step =
  | { readonly kind: 'append'; readonly events: readonly Emission[] }
  | { readonly kind: 'cancel' | 'queue-message' | 'park' | 'answer' | 'lose' | 'tick' | 'back' }
  | { readonly kind: 'end'; readonly state: 'completed' | 'failed' | 'canceled' | 'rejected' };
type Emission =
  | { readonly kind: 'status'; readonly words: string | undefined }
  | { readonly kind: 'discard'; readonly artifactId: string }
  | {
      readonly kind: 'chunk';
      readonly artifactId: string;
      readonly words: string;
      readonly append: boolean;
      readonly lastChunk: boolean;
    };

const artifactId = fc.constantFrom('a', 'b', 'c');
const words = fc.string({ maxLength: 3 });
const emission: fc.Arbitrary<Emission> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('status' as const), words: fc.option(words, { nil: undefined }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('discard' as const), artifactId }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('chunk' as const),
      artifactId,
      words,
      append: fc.boolean(),
      lastChunk: fc.boolean(),
    }),
  },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('append' as const), events: fc.array(emission, { maxLength: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('cancel' as const, 'queue-message', 'park', 'answer', 'lose', 'tick', 'back'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      state: fc.constantFrom('completed' as const, 'failed', 'canceled', 'rejected'),
    }),
  },
);

/** A task on its way through a history. */
class Walk {
  readonly #world: StoreWorld;
  readonly #worker: Worker;
  #grant: Grant;
  #held = true;
  readonly #queued: TurnNo[] = [];

  constructor(world: StoreWorld, worker: Worker, grant: Grant) {
    this.#world = world;
    this.#worker = worker;
    this.#grant = grant;
  }

  async take(next: Step): Promise<void> {
    const view = await this.#world.view(this.#grant);
    if (isTerminal(view.task.state)) return;
    if (next.kind === 'tick') return this.#world.clock.advance(7);
    if (next.kind === 'back') return this.#world.clock.set(this.#world.clock.now() - 1_000);
    if (next.kind === 'cancel') return this.#command({ events: [{ kind: 'cancel-requested', by: 'ann' }] });
    if (next.kind === 'queue-message') return this.#queueMessage((view.task.turnNo + 1) as TurnNo);
    if (!this.#held) return next.kind === 'answer' ? this.#answer() : undefined;
    await this.#work(next, view.task);
  }

  async #work(next: Step, task: Task): Promise<void> {
    const grant = this.#grant;
    if (next.kind === 'append') {
      const facts = eventFacts(...next.events.map((each) => emitted(each, grant)));
      await this.#world.store.append(grant, { emitNo: task.emitNo, facts });
    } else if (next.kind === 'end') {
      await this.#world.settle(grant, this.#end(next.state), task.emitNo);
    } else if (next.kind === 'park') {
      await this.#world.settle(grant, parkWrite(grant, { wakeKey: 'ask:x' }), task.emitNo);
      this.#held = false;
    } else if (next.kind === 'lose') {
      await this.#command(nextRunWrite(grant, 'lost', this.#world.run()));
      await this.#claim();
    }
  }

  /** The end drops what was queued. */
  #end(state: Parameters<typeof endWrite>[1]): ReturnType<typeof endWrite> {
    const write = endWrite(this.#grant, state);
    const dropped = this.#queued.map((turnNo) => ({ kind: 'drop' as const, turnNo }));
    return { ...write, turns: [...(write.turns ?? []), ...dropped] };
  }

  async #answer(): Promise<void> {
    const write = nextRunWrite(this.#grant, 'parked', this.#world.run());
    await this.#command({ ...write, events: [...write.events, status('working')] });
    await this.#claim();
  }

  async #claim(): Promise<void> {
    const [grant] = await this.#world.claim(this.#worker, 1);
    if (grant === undefined) throw new Error('the run that was queued is runnable');
    this.#grant = grant;
    this.#held = true;
  }

  async #queueMessage(turnNo: TurnNo): Promise<void> {
    const turn = this.#world.turn({ turnNo, messageOrdinal: 1 });
    const message = userMessage(turn.messageId, [text(`turn ${turnNo}`)]);
    await this.#command({ events: [received(message, turnNo)], turns: [{ kind: 'enqueue', turn }] });
    this.#queued.push(turnNo);
  }

  async #command(write: Parameters<StoreWorld['command']>[1]): Promise<void> {
    await this.#world.command({ no: this.#grant.taskNo }, write);
  }

  /** The row and the content are the folds of the log, and the log is whole. */
  async check(): Promise<void> {
    const log = await this.#world.events({ no: this.#grant.taskNo });
    log.forEach((event, index) => {
      expect(event.seq).toBe(index + 1);
      expect(event.at).toBeGreaterThanOrEqual(log[index - 1]?.at ?? 0);
    });
    const snapshot = await this.#world.scoped().readSnapshot(this.#grant.taskId, { artifacts: true });
    if (snapshot === undefined) throw new Error('the task is there');
    expect(snapshot.content).toEqual(log.reduce(foldContent, emptyContent));
    expect(snapshot.task).toEqual(foldedRow(snapshot.task, log));
    expect((await this.#world.view(this.#grant)).task).toEqual(snapshot.task);
    const newest = await this.#world.scoped().readSnapshot(this.#grant.taskId, { artifacts: false, historyMax: 2 });
    expect(newest?.content.history).toEqual(snapshot.content.history.slice(-2));
    expect(newest?.content.statusMessage).toEqual(snapshot.content.statusMessage);
  }
}

/** What the log says of a row; only what no event tells is taken from the row itself. */
function foldedRow(row: Task, log: readonly StoredEvent[]): Task {
  const { cancelAt: _at, cancelBy: _by, endedAt: _end, ...rest } = row;
  const zero = 0 as Seq;
  const empty = { ...rest, headSeq: zero, statusSeq: zero, generation: 0, turnNo: 0 as TurnNo };
  return log.reduce<Task>(foldTask, { ...empty, state: 'submitted' });
}

function emitted(each: Emission, grant: Grant): NewEvent {
  switch (each.kind) {
    case 'status':
      return status('working', each.words === undefined ? undefined : agentMessage('s', each.words));
    case 'discard':
      return { kind: 'artifact-discarded', artifactId: each.artifactId as never, runNo: grant.runNo };
    case 'chunk':
      return chunk(grant, { ...each, parts: [text(each.words)], header: { name: each.words } });
  }
}

export function describeFold(open: OpenWorld): void {
  describe('any history', () => {
    test('leaves a row and a content that are the folds of its log', async () => {
      const world = await open();
      const worker = await world.worker(1e12);
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
          const { grant } = await world.start({ grantTo: worker });
          const walk = new Walk(world, worker, grant);
          for (const next of steps) await walk.take(next);
          await walk.check();
        }),
        { numRuns: 60, seed: 20_260_101, endOnFailure: false },
      );
    });
  });
}
