import { policyOf } from '../agent/define-agent.ts';
import type { Agent, AnySkill } from '../agent/definition.ts';
import { Fail } from '../agent/errors.ts';
import { OVER } from '../base/abort-over.ts';
import { assert } from '../base/assert.ts';
import { errorCode } from '../base/errors.ts';
import { childOnUse, type Logger } from '../base/log.ts';
import type { Seq } from '../model/ids.ts';
import type { Ending } from '../model/run-decide.ts';
import type { AgentPolicy } from '../model/task-policy.ts';
import type { Grant, TurnMaterial } from '../store/contract.ts';
import { abortReasons, DrainError } from './abort-reasons.ts';
import { untilAnswered } from './backoff.ts';
import { Emitter, type Unwritten } from './emitter.ts';
import { returnedEnding, thrownEnding } from './endings.ts';
import { letOthersGoOn } from './event-loop.ts';
import { Journal } from './journal.ts';
import { createLiveTurn, type LiveTurn } from './live-turn.ts';
import { LocalView } from './local-view.ts';
import { grantFields } from './log-fields.ts';
import { parkedEnding } from './parking.ts';
import type { RuntimeParts } from './ports.ts';
import { messageIdsOf, type RunContext } from './run-context.ts';
import { RunPhase } from './run-phase.ts';
import { settleRun } from './settle.ts';
import { StepScope } from './step-scope.ts';

/** Why a run ends; the first reason counts. */
type Verdict =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'parked' }
  | { readonly kind: 'canceled' }
  | { readonly kind: 'drained' }
  /** What the run writes can no longer be whole. */
  | { readonly kind: 'broken'; readonly error: unknown }
  | { readonly kind: 'lost' };

/** A run whose turn was made. */
interface Prepared {
  readonly context: RunContext;
  readonly skill: AnySkill;
  readonly live: LiveTurn;
}

const fallbackPolicy: AgentPolicy = {
  whenBusy: 'reject',
  cancel: 'any',
  onCrash: 'retry',
  onError: 'fail',
  crashesMax: 0,
};

/**
 * Executes one granted run: reads its turn, calls the handler from the top, and writes how it ended.
 *
 * Whatever ends the run first makes its turn inert, and only then is the signal fired: what a handler does in answer
 * to an abort is not written. The settlement follows, then the handler's cleanups. `execute` resolves when the store
 * has the end, or the run lost the task; `released` when its handler can do no more.
 */
export class RunExecution {
  readonly grant: Grant;
  readonly #parts: RuntimeParts;
  readonly #log: Logger;
  readonly #agent: Agent | undefined;
  readonly #policy: AgentPolicy;
  readonly #phase = new RunPhase();
  readonly #abort = new AbortController();
  readonly #lost = new AbortController();
  readonly #verdict = Promise.withResolvers<Verdict>();
  readonly #grantedAtMs: number;
  #isDecided = false;
  #endReason: unknown = abortReasons.ended;
  #isCanceled = false;
  #material: TurnMaterial | undefined;
  #emitter: Emitter | undefined;
  #view: LocalView | undefined;
  #prepared: Prepared | undefined;
  /** Why the store refused what the run wrote. */
  #broken: { readonly error: unknown } | undefined;
  /** How the handler really ended, when it did so after a cancel. */
  #afterCancel: Verdict | undefined;

  constructor(parts: RuntimeParts, grant: Grant, material?: TurnMaterial) {
    this.#parts = parts;
    this.#grantedAtMs = parts.clock.monotonicMs();
    this.grant = grant;
    this.#material = material;
    this.#log = childOnUse(parts.log, () => ({ agent: grant.agent, ...grantFields(grant) }));
    this.#agent = parts.agents.find(grant.agent);
    this.#policy = this.#agent === undefined ? fallbackPolicy : policyOf(this.#agent, grant.turn.skill);
  }

  get headSeq(): Seq {
    return this.#emitter?.headSeq ?? this.grant.headSeq;
  }

  cancel(): void {
    this.#decide({ kind: 'canceled' });
  }

  drain(): void {
    this.#decide({ kind: 'drained' });
  }

  /** The grant is gone, or will be before the next write lands. Also cuts short a settlement that is under way. */
  lose(): void {
    this.#decide({ kind: 'lost' });
    this.#emitter?.stop();
    this.#lost.abort(abortReasons.lost);
  }

  async execute(): Promise<void> {
    try {
      await this.#execute();
    } catch (error) {
      if (this.#lost.signal.aborted) return;
      this.#log.error('run could not be settled; its deadline will end it', { error });
    } finally {
      this.#phase.end();
      this.#fire(this.#endReason);
    }
  }

  /** Runs what the handler deferred, and resolves when the handler can do no more. */
  async released(): Promise<void> {
    const cleanups = this.#prepared?.live.cleanups ?? [];
    for (const cleanup of cleanups.toReversed()) {
      try {
        await cleanup();
      } catch (error) {
        this.#log.warn('cleanup failed', { error });
      }
    }
    if (this.#prepared !== undefined) await this.#phase.until(() => this.#phase.isHandlerIdle);
  }

  async #execute(): Promise<void> {
    const material = await this.#readMaterial();
    if (material === undefined) return;
    this.#material = material;
    this.#view = new LocalView(this.grant, material);
    this.#emitter = this.#createEmitter(material);
    if (material.task.cancelAt !== undefined) this.cancel();
    await this.#prepare(material).then(
      (prepared) => this.#call(prepared),
      (error: unknown) => this.#decide({ kind: 'threw', error }),
    );
    const ending = await this.#ending(await this.#verdict.promise);
    if (ending !== undefined) await this.#settleOrFail(ending, this.#emitter);
  }

  async #readMaterial(): Promise<TurnMaterial | undefined> {
    if (this.#material !== undefined) return this.#material;
    try {
      return await untilAnswered(this.#parts, this.#lost.signal, () => this.#parts.store.readTurn(this.grant));
    } catch (error) {
      if (errorCode(error) !== 'lease_lost') throw error;
      return undefined;
    }
  }

  #createEmitter(material: TurnMaterial): Emitter {
    return new Emitter(
      this.#parts,
      { grant: this.grant, headSeq: material.task.headSeq, grantedAtMs: this.#grantedAtMs },
      {
        committed: (events, at) => {
          this.#view?.committed(events, at);
          if (events.length > 0) this.#parts.hub.publish(this.grant.taskNo, events);
        },
        lost: () => this.lose(),
        broken: (error) => {
          this.#broken = { error };
          this.#decide({ kind: 'broken', error });
        },
      },
    );
  }

  async #prepare(material: TurnMaterial): Promise<Prepared> {
    const { skill: skillId } = this.grant.turn;
    const skill = this.#agent?.skills[skillId];
    if (this.#agent === undefined || skill?.kind !== 'task') {
      throw new Fail(`This agent no longer has the skill "${skillId}" that the task was begun with.`, {
        code: 'skill_gone',
      });
    }
    const context = this.#createContext(material, policyOf(this.#agent, skillId).storeContent);
    const live = await createLiveTurn(context, this.#agent, () => this.#decide({ kind: 'parked' }));
    return { context, skill, live };
  }

  #createContext(material: TurnMaterial, keepsContent: boolean): RunContext {
    assert(this.#emitter !== undefined, 'a run has its emitter before its turn');
    return {
      parts: this.#parts,
      grant: this.grant,
      material,
      phase: this.#phase,
      emitter: this.#emitter,
      journal: new Journal(this.grant.turn.turnNo, material.journal),
      scope: new StepScope(),
      signal: this.#abort.signal,
      lost: this.#lost.signal,
      log: this.#log,
      keepsContent,
      knownMessages: messageIdsOf(material),
      fail: (error) => this.#decide({ kind: 'broken', error }),
    };
  }

  #call(prepared: Prepared): void {
    if (this.#isDecided) return;
    this.#prepared = prepared;
    const call = async (): Promise<unknown> => prepared.skill.run(prepared.live.turn as never);
    call().then(
      (value) => this.#handlerSettled({ kind: 'returned', value }),
      (error: unknown) => this.#handlerSettled({ kind: 'threw', error }),
    );
  }

  #handlerSettled(verdict: Verdict): void {
    this.#afterCancel = verdict;
    this.#decide(verdict);
    this.#phase.handlerSettled();
  }

  #decide(verdict: Verdict): void {
    if (this.#isDecided) return;
    this.#isDecided = true;
    this.#isCanceled = verdict.kind === 'canceled';
    if (verdict.kind === 'drained') this.#phase.drain();
    else this.#phase.end();
    this.#endReason = reasonOf(verdict.kind);
    // An end that nobody need be told of is written first: what an agent's listener does must not come before it.
    if (ENDS_AT_ONCE.includes(verdict.kind)) this.#emitter?.hold();
    else this.#fire(this.#endReason);
    this.#verdict.resolve(verdict);
  }

  #fire(reason: unknown): void {
    if (!this.#abort.signal.aborted) this.#abort.abort(reason);
  }

  async #ending(verdict: Verdict): Promise<Ending | undefined> {
    switch (verdict.kind) {
      case 'lost':
        return undefined;
      case 'drained':
        await this.#windDown();
        return { kind: 'handed-back' };
      case 'canceled':
        await this.#windDown();
        return this.#canceledEnding();
      case 'parked':
        assert(this.#prepared !== undefined, 'only a handler parks its run');
        return parkedEnding(this.#prepared.context, this.#prepared.live.suspensions.open);
      case 'returned':
        return this.#returned(verdict.value);
      default:
        return this.#thrown(verdict.error);
    }
  }

  /** After the signal, a handler has as long as a canceled one to come to rest; what it does meanwhile is not written. */
  async #windDown(): Promise<void> {
    if (this.#prepared === undefined) return;
    const rested = new AbortController();
    const grace = this.#parts.clock.sleep(this.#parts.config.times.cancelGraceMs, rested.signal);
    await Promise.race([this.#phase.until(() => this.#phase.isHandlerIdle).then(letOthersGoOn), grace]);
    grace.catch(() => {});
    rested.abort(OVER);
  }

  /** The task ends CANCELED in any case; the run keeps what its handler came to. An answer to the abort is no outcome. */
  #canceledEnding(): Ending {
    const verdict = this.#afterCancel;
    if (verdict?.kind === 'returned') return { kind: 'succeeded' };
    const isOwn = verdict?.kind === 'threw' && !isAbort(verdict.error, this.#abort.signal);
    return isOwn ? this.#thrown(verdict.error) : { kind: 'handed-back' };
  }

  async #returned(value: unknown): Promise<Ending> {
    assert(this.#prepared !== undefined, 'only a handler returns');
    const { context, skill, live } = this.#prepared;
    try {
      return await returnedEnding(context, { value, skill, artifacts: live.artifacts });
    } catch (error) {
      this.#lost.signal.throwIfAborted();
      return this.#thrown(error);
    }
  }

  #thrown(error: unknown): Ending {
    const keepsContent = this.#agent === undefined || policyOf(this.#agent, this.grant.turn.skill).storeContent;
    const source = { parts: this.#parts, grant: this.grant, log: this.#log, keepsContent, policy: this.#policy };
    return thrownEnding(source, error);
  }

  /** What the store refuses for good would be refused in every run: then the failure alone is written. */
  async #settleOrFail(ending: Ending, emitter: Emitter): Promise<void> {
    const unwritten = (await emitter.close()) ?? { emitNo: emitter.emitNo, facts: [] };
    if (this.#lost.signal.aborted) return;
    try {
      // A batch was refused, perhaps after the handler had returned: what it says of its work is no longer true.
      await this.#settle(this.#broken === undefined ? ending : this.#thrown(this.#broken.error), unwritten);
    } catch (error) {
      if (this.#lost.signal.aborted) return;
      await this.#settle(this.#thrown(error), { ...unwritten, facts: [] });
    }
  }

  async #settle(ending: Ending, unwritten: Unwritten): Promise<void> {
    const { turnNo } = this.grant.turn;
    const outcome = await settleRun({
      parts: this.#parts,
      grant: this.grant,
      ending,
      policy: this.#policy,
      unwritten,
      discarding: (write) => {
        const isTurnOver = write.turns?.some((turn) => turn.kind === 'settle' && turn.turnNo === turnNo) === true;
        return isTurnOver ? (this.#prepared?.live.artifacts.discarding() ?? []) : [];
      },
      // A cancel was written by somebody else, so this run's own view cannot know of it.
      view: this.#isCanceled ? undefined : this.#view?.current,
      lost: this.#lost.signal,
    });
    if (outcome === 'lost') this.#log.info('run had lost its task when it settled', { fence: this.grant.fence });
  }
}

/** The settlement follows at once; after a cancel or a drain it waits until the handler has come to rest. */
const ENDS_AT_ONCE: readonly Verdict['kind'][] = ['returned', 'threw', 'parked'];

function reasonOf(verdict: Verdict['kind']): Error {
  if (verdict === 'drained') return new DrainError();
  return verdict === 'returned' || verdict === 'threw' ? abortReasons.ended : abortReasons[verdict];
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}
