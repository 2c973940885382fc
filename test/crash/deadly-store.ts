import type { FactBatch, SystemStore } from '../../src/store/contract.ts';

/** Where in a store call the process dies: before it is made, while it is under way, after it returned. */
export type Moment = 'before' | 'during' | 'after';

const WRITES = new Set([
  'submit',
  'command',
  'claim',
  'append',
  'settle',
  'beginReply',
  'finishReply',
  'stageSlice',
  'registerWorker',
  'buryWorkers',
]);

/** A process with nothing to do claims and sweeps on: only the first after another write can find something. */
const REPEATED_WHEN_IDLE = ['claim', 'buryWorkers'];

interface Death {
  readonly at: number;
  readonly moment: Moment;
  /** Told the name of each write that counts, before it is made. */
  readonly onWrite?: (name: string) => void;
  /** Told the key of each step whose result was committed, before anybody else is. */
  readonly onRecorded?: (key: string) => void;
}

/**
 * A store in front of the real one that kills its own process at the n-th write that can change something. Real in every other way: the file,
 * the transactions and the operating system's clean-up are those of a real crash.
 */
export function deadlyStore<Store extends SystemStore>(inner: Store, death: Death): Store {
  let count = 0;
  const idle = new Set<string>();
  const counts = (name: string): boolean => {
    if (!REPEATED_WHEN_IDLE.includes(name)) idle.clear();
    else if (idle.has(name)) return false;
    else idle.add(name);
    return true;
  };
  const wrap = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(object, name, receiver) {
        const value = Reflect.get(object, name, receiver) as unknown;
        if (typeof value !== 'function') return value;
        if (name === 'scoped')
          return (...args: readonly unknown[]) => wrap(Reflect.apply(value, object, args) as object);
        if (typeof name !== 'string' || !WRITES.has(name)) return value.bind(object);
        return (...args: readonly unknown[]) => {
          const write = async () => {
            const result: unknown = await Reflect.apply(value, object, args);
            if (name === 'append' || name === 'settle')
              for (const key of recordedSteps(args[1] as FactBatch)) death.onRecorded?.(key);
            return result;
          };
          if (!counts(name)) return write();
          count += 1;
          death.onWrite?.(name);
          return count === death.at ? die(write, death.moment) : write();
        };
      },
    });
  return wrap(inner);
}

function recordedSteps({ facts }: FactBatch): readonly string[] {
  return facts.flatMap((fact) =>
    fact.kind === 'journal' && fact.entry.kind === 'step' && fact.entry.state === 'done' ? [fact.entry.key] : [],
  );
}

async function die(call: () => Promise<unknown>, moment: Moment): Promise<never> {
  if (moment !== 'before') {
    const under = call();
    if (moment === 'after') await under;
  }
  process.kill(process.pid, 'SIGKILL');
  return new Promise<never>(() => {});
}
