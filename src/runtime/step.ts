import { decodeJournalValue, encodeJournalValue } from '../agent/codec.ts';
import { StepUnknown } from '../agent/errors.ts';
import { decodeStepOutcome, encodeStepFailure } from '../agent/step-failure.ts';
import type { StepContext, StepOptions } from '../agent/turn.ts';
import { OVER } from '../base/abort-over.ts';
import { type Duration, durationMs } from '../base/duration.ts';
import { limits } from '../base/limits.ts';
import type { JournalWrite } from '../model/task-write.ts';
import type { Emission } from './emitter.ts';
import { readableError } from './failure.ts';
import { type RunContext, turnId } from './run-context.ts';
import { RunEnded } from './run-phase.ts';

const BACKOFF: Duration = '500ms';
const BACKOFF_MS_MAX = 60_000;
const ROW_BYTES = 128;
/** What an author throws on purpose, or what only a change of the code cures, is not tried again. */
const FINAL_ERRORS = ['Reject', 'Fail', 'Expired', 'Declined', 'StepUnknown', 'AgentCodeError'];

export type StepWork = (context: StepContext) => unknown;

/**
 * A call of `turn.step`: the record of an earlier run, or the work, recorded before the handler sees its result. What
 * the handler gets is read back from the record, so that the first run sees what every later one will.
 */
export async function runStep(
  context: RunContext,
  name: string,
  work: StepWork,
  options: StepOptions = {},
): Promise<unknown> {
  const { journal, emitter } = context;
  const key = journal.nextKey('step', name);
  const found = journal.find(key);
  if (found?.state === 'done') return decodeStepOutcome(found.result ?? 'null');
  if (options.atMostOnce === true) {
    if (found !== undefined) throw new StepUnknown(name);
    await emitter.commit(rowEmission(journal.row({ key, kind: 'step', state: 'open' })));
  }
  const record = (result: string): Promise<void> =>
    emitter.commit(rowEmission(journal.row({ key, kind: 'step', state: 'done', result })));
  let result: string;
  try {
    const value = await context.scope.run(name, () => tryWork(context, { key, name, work, options }));
    result = encodeJournalValue(value, `Step "${name}" returned`);
  } catch (error) {
    // Known to have failed: a later run is told so, and not that nobody knows. What answers a signal of ours says nothing.
    if (options.atMostOnce === true && context.phase.isLive) await record(encodeStepFailure(readableError(error)));
    throw error;
  }
  if (!context.phase.mayRecord) throw new RunEnded();
  await record(result);
  return decodeJournalValue(result);
}

/** One row of the journal as an emission. */
export function rowEmission(entry: JournalWrite): Emission {
  return { facts: [{ kind: 'journal', entry }], bytes: ROW_BYTES + (entry.result?.length ?? 0) };
}

interface Attempted {
  readonly key: string;
  readonly name: string;
  readonly work: StepWork;
  readonly options: StepOptions;
}

async function tryWork(context: RunContext, step: Attempted): Promise<unknown> {
  const { retry, atMostOnce } = step.options;
  const triesMax = atMostOnce === true ? 1 : Math.max(1, retry?.attempts ?? limits.stepTriesMax);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryOnce(context, step, attempt);
    } catch (error) {
      if (!context.phase.mayRecord) throw error;
      const isFinal = error instanceof Error && FINAL_ERRORS.includes(error.name);
      if (isFinal || attempt >= triesMax) {
        context.log.warn('step failed', { step: step.name, attempt, error });
        throw error;
      }
      await context.parts.clock.sleep(backoffMs(context, retry?.backoff ?? BACKOFF, attempt), context.signal);
    }
  }
}

/** Doubles with each try, and lies somewhere in its upper half, so that tries of many tasks spread out. */
function backoffMs(context: RunContext, backoff: Duration, attempt: number): number {
  const fullMs = Math.min(BACKOFF_MS_MAX, durationMs(backoff) * 2 ** (attempt - 1));
  return fullMs * (0.5 + context.parts.random.fraction() / 2);
}

async function tryOnce(context: RunContext, step: Attempted, attempt: number): Promise<unknown> {
  const idempotencyKey = turnId(context.grant, 'step', step.key);
  const { timeout } = step.options;
  if (timeout === undefined) return await step.work({ idempotencyKey, signal: context.signal, attempt });
  const over = new AbortController();
  const done = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const expiry = context.parts.clock.sleep(durationMs(timeout), done.signal).then(() => {
    over.abort(new DOMException(`Step "${step.name}" took longer than ${timeout}.`, 'TimeoutError'));
    throw over.signal.reason;
  });
  try {
    return await Promise.race([step.work({ idempotencyKey, signal, attempt }), expiry]);
  } finally {
    expiry.catch(() => {});
    done.abort(OVER);
  }
}
