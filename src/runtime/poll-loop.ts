import type { Instant } from '../base/clock.ts';
import type { Service } from '../base/service.ts';
import type { Seq, TaskNo } from '../model/ids.ts';
import type { Hub } from './hub.ts';
import type { Lease } from './lease-keeper.ts';
import { createLoop } from './loop-service.ts';
import type { Engine, RuntimeParts } from './ports.ts';

export interface PollLoopParts extends Pick<RuntimeParts, 'store' | 'clock' | 'log' | 'config'> {
  readonly hub: Hub;
  readonly engine: Pick<Engine, 'held' | 'cancel'>;
  readonly lease: Lease;
}

interface Head {
  readonly headSeq: Seq;
  readonly cancelRequested: boolean;
}

/**
 * One read per process and interval over every followed task and every run held here. It backs the wakeups and works
 * alone: followers learn of events that other nodes wrote, runs of cancels that other nodes took and of ends that other
 * nodes decided.
 */
export function createPollLoop(parts: PollLoopParts): Service {
  const held = new HeldRuns(parts);
  const loop = createLoop({
    name: 'poll-loop',
    clock: parts.clock,
    log: parts.log,
    errorPauseMs: parts.config.pollMs,
    round: async (signal) => {
      await parts.clock.sleep(parts.config.pollMs, signal);
      await poll(parts, held);
    },
  });
  return { name: loop.name, start: () => loop.start(), stop: (deadline: Instant) => loop.stop(deadline) };
}

async function poll(parts: PollLoopParts, held: HeldRuns): Promise<void> {
  const wanted = new Map<TaskNo, Seq>();
  const want = ({ taskNo, seq }: { readonly taskNo: TaskNo; readonly seq: Seq }): void => {
    wanted.set(taskNo, Math.min(seq, wanted.get(taskNo) ?? seq) as Seq);
  };
  for (const place of parts.hub.waiting()) want(place);
  for (const place of held.places()) want(place);
  if (wanted.size === 0) return;
  const heads = await parts.store.readHeads([...wanted].map(([taskNo, seq]) => ({ taskNo, seq })));
  for (const { taskNo, ...head } of heads) {
    if (head.headSeq === 0) parts.hub.publishGone(taskNo);
    else parts.hub.hint(taskNo, head.headSeq);
    await held.look(taskNo, head);
  }
}

/** What the poll knows of the runs that execute here. */
class HeldRuns {
  readonly #parts: PollLoopParts;
  /** The head up to which a run was looked at: its cancel request, if there was one by then, has been passed on. */
  #seen = new Map<TaskNo, Seq>();
  /** A head that the engine had not reached; the same again, and somebody else has moved the task. */
  #ahead = new Map<TaskNo, Seq>();
  #engineSeqs = new Map<TaskNo, Seq>();

  constructor(parts: PollLoopParts) {
    this.#parts = parts;
  }

  /**
   * The engine's own appends pass a cancel request without seeing it, so its place is no measure. A run that was never
   * looked at asks from 0, and so is answered at least once.
   */
  places(): readonly { readonly taskNo: TaskNo; readonly seq: Seq }[] {
    const held = this.#parts.engine.held();
    this.#engineSeqs = new Map(held.map(({ taskNo, seq }) => [taskNo, seq]));
    this.#seen = new Map(held.flatMap(({ taskNo }) => entry(taskNo, this.#seen.get(taskNo))));
    this.#ahead = new Map(held.flatMap(({ taskNo }) => entry(taskNo, this.#ahead.get(taskNo))));
    return held.map(({ taskNo }) => {
      const isAhead = this.#ahead.has(taskNo);
      return { taskNo, seq: isAhead ? (0 as Seq) : (this.#seen.get(taskNo) ?? (0 as Seq)) };
    });
  }

  async look(taskNo: TaskNo, head: Head): Promise<void> {
    const engineSeq = this.#engineSeqs.get(taskNo);
    if (engineSeq === undefined) return;
    this.#seen.set(taskNo, head.headSeq);
    if (head.cancelRequested || head.headSeq === 0) {
      this.#parts.engine.cancel(taskNo);
      return;
    }
    const wasAhead = this.#ahead.get(taskNo) === head.headSeq;
    this.#ahead.delete(taskNo);
    if (head.headSeq <= engineSeq) return;
    if (!wasAhead) this.#ahead.set(taskNo, head.headSeq);
    else if (await this.#isRevoked(taskNo)) this.#parts.engine.cancel(taskNo);
  }

  /** A deadline that another node carried out took the fence; a message that was queued meanwhile did not. */
  async #isRevoked(taskNo: TaskNo): Promise<boolean> {
    const view = await this.#parts.store.readView(taskNo);
    return view?.run?.state !== 'leased' || view.run.workerNo !== this.#parts.lease.worker()?.workerNo;
  }
}

function entry(taskNo: TaskNo, seq: Seq | undefined): readonly (readonly [TaskNo, Seq])[] {
  return seq === undefined ? [] : [[taskNo, seq]];
}
