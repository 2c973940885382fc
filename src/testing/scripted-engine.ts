import type { Seq, TaskNo } from '../model/ids.ts';
import type { Engine } from '../runtime/ports.ts';
import type { Grant, TurnMaterial } from '../store/contract.ts';

/** An engine that executes nothing: it keeps what it was given, and the test says when a run is over. */
export interface ScriptedEngine extends Engine {
  readonly started: { readonly grant: Grant; readonly material: TurnMaterial | undefined }[];
  readonly canceled: TaskNo[];
  losses: number;
  slots: number;
  /** The run is over; its slot is free. */
  release(taskNo: TaskNo): void;
  /** Where the engine believes the log of a task to be. */
  setHead(taskNo: TaskNo, seq: Seq): void;
  /** Resolves with the n-th run that was started, counted from 1. */
  startedRun(count: number): Promise<Grant>;
}

export function createScriptedEngine(slots = 10): ScriptedEngine {
  const held = new Map<TaskNo, Seq>();
  const freeWaiters = new Set<() => void>();
  const startWaiters = new Set<() => void>();
  const engine: ScriptedEngine = {
    name: 'local',
    started: [],
    canceled: [],
    losses: 0,
    slots,
    exclusive: false,
    freeSlots: () => engine.slots - held.size,
    start(grant, material) {
      held.set(grant.taskNo, grant.headSeq);
      engine.started.push({ grant, material });
      for (const wake of startWaiters) wake();
    },
    cancel: (taskNo) => {
      if (held.has(taskNo)) engine.canceled.push(taskNo);
    },
    loseAll() {
      engine.losses += 1;
      held.clear();
    },
    held: () => [...held].map(([taskNo, seq]) => ({ taskNo, seq })),
    nextFree: (signal) =>
      new Promise((resolve, reject) => {
        const leave = (): void => {
          freeWaiters.delete(free);
          signal.removeEventListener('abort', abort);
        };
        const free = (): void => {
          leave();
          resolve();
        };
        const abort = (): void => {
          leave();
          reject(signal.reason);
        };
        freeWaiters.add(free);
        signal.addEventListener('abort', abort, { once: true });
      }),
    async drain() {
      held.clear();
    },
    release(taskNo) {
      held.delete(taskNo);
      for (const wake of [...freeWaiters]) wake();
    },
    setHead: (taskNo, seq) => void held.set(taskNo, seq),
    startedRun: async (count) => {
      while (engine.started.length < count) {
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            startWaiters.delete(wake);
            resolve();
          };
          startWaiters.add(wake);
        });
      }
      return (engine.started[count - 1] as (typeof engine.started)[number]).grant;
    },
  };
  return engine;
}
