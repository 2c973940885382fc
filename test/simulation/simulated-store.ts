import { CodedError } from '../../src/base/errors.ts';
import type { Random } from '../../src/base/random.ts';
import type { Fence, TaskNo, WorkerNo } from '../../src/model/ids.ts';
import type { FactBatch, Grant, SettleRequest, SystemStore } from '../../src/store/contract.ts';
import { interceptStore } from '../../src/testing/intercepted-store.ts';
import type { Ledger } from './ledger.ts';
import type { ProcessClock, SimulationClock } from './simulation-clock.ts';

/** How the line between one process and the store behaves now. */
export interface Weather {
  /** Share of calls that fail with `unavailable`: half of them before they took effect, half after. */
  failing: number;
  /** The longest that a call, and its answer, is under way. */
  latencyMs: number;
}

export const fairWeather: Readonly<Weather> = { failing: 0, latencyMs: 10 };

interface Line {
  readonly world: SimulationClock;
  readonly process: ProcessClock;
  readonly random: Random;
  readonly weather: Weather;
  readonly ledger: Ledger;
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** The one store, as one process sees it: calls take time both ways, some fail, and none comes back to a dead process. */
export function simulatedStore(shared: SystemStore, line: Line): SystemStore {
  const { process, random, weather, ledger } = line;
  return interceptStore(withDoubt(shared), async (name, call, args) => {
    const draw = random.fraction() / weather.failing;
    const fails = draw < 0.5 ? 'before' : draw < 1 ? 'after' : 'not';
    await travel(line);
    // What a process had sent when it died arrives, or does not.
    if (process.state === 'dead' && random.fraction() < 0.5) return await never();
    const outcome = fails === 'before' ? unavailable(name) : await outcomeOf(call);
    if (outcome.ok) tell(ledger, { name, args, value: outcome.value });
    await travel(line);
    if (process.state !== 'running') await process.running();
    const answer = fails === 'after' ? unavailable(name) : outcome;
    if (!answer.ok) throw answer.error;
    return answer.value;
  });
}

async function outcomeOf(call: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { ok: true, value: await call() };
  } catch (error) {
    return { ok: false, error };
  }
}

function unavailable(name: string): Outcome {
  return { ok: false, error: new CodedError('unavailable', { cause: new Error(`${name} was made to fail`) }) };
}

async function travel({ world, random, weather }: Line): Promise<void> {
  const share = random.fraction() * 2 - 1;
  if (share > 0) await world.sleep(share * weather.latencyMs);
}

function never(): Promise<never> {
  return new Promise(() => {});
}

/** The ledger sees what a run has committed at the moment it is. */
function tell(
  ledger: Ledger,
  call: { readonly name: string; readonly args: readonly unknown[]; readonly value: unknown },
): void {
  if (call.name !== 'append' && call.name !== 'settle') return;
  if ((call.value as { readonly kind: string }).kind !== 'written') return;
  const [grant, batch] = call.args as [Grant, FactBatch & Partial<SettleRequest>];
  ledger.committed(grant, batch.facts);
  if (batch.write?.runs?.some((run) => run.kind === 'park')) ledger.parked(grant);
}

/** A store whose answers may be lost must tell a worker what it holds; the memory store's own never are. */
function withDoubt(shared: SystemStore): SystemStore {
  return new Proxy(shared, {
    get(store, key) {
      if (key === 'leasedTo') return (workerNo: WorkerNo) => leasedTo(store, workerNo);
      if (key === 'close') return async () => {};
      const value: unknown = Reflect.get(store, key, store);
      return typeof value === 'function' ? value.bind(store) : value;
    },
  });
}

async function leasedTo(
  store: SystemStore,
  workerNo: WorkerNo,
): Promise<readonly { readonly taskNo: TaskNo; readonly fence: Fence }[]> {
  const leased: { taskNo: TaskNo; fence: Fence }[] = [];
  for (let no = 1; ; no += 1) {
    const view = await store.readView(no as TaskNo);
    if (view === undefined) return leased;
    const { run } = view;
    if (run?.state === 'leased' && run.workerNo === workerNo) leased.push({ taskNo: view.task.no, fence: run.fence });
  }
}
