import { policyOf } from '../agent/define-agent.ts';
import { OVER } from '../base/abort-over.ts';
import type { Instant } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { AgentName, ContextId, Fence, ThreadId } from '../model/ids.ts';
import type { Fingerprint } from '../model/task-write.ts';
import type { HeldReply, KnownMessage, ScopedStore } from '../store/contract.ts';
import type { Lease } from './lease-keeper.ts';
import { formatMessage } from './message-text.ts';
import type { RuntimeParts, SendRequest, Submitted } from './ports.ts';
import { type Reply, runReply } from './run-reply.ts';
import { goingAway, stillRunning } from './task-answers.ts';
import type { Wakeups } from './wakeups.ts';

export interface ReplyParts extends RuntimeParts {
  readonly lease: Lease;
  readonly wakeups: Wakeups;
}

interface ReplyHow {
  readonly skillId: string;
  readonly scoped: ScopedStore;
  readonly fingerprint: Fingerprint;
  readonly findRepeat: (known?: KnownMessage) => Promise<Submitted | undefined>;
}

/** Answers messages to reply skills: one Message each, no task. */
export interface Replies {
  answer(request: SendRequest, how: ReplyHow): Promise<Submitted>;
  /** Forgets failed replies that the store could not forget at the time; the sweeper's chore. */
  retryDrops(): Promise<void>;
  /** Takes no more, lets what runs end until `deadline`, then fires its signal. */
  stop(deadline: Instant): Promise<void>;
}

type Drop = HeldReply & { readonly scoped: ScopedStore };

export function createReplies(parts: ReplyParts): Replies {
  return new ReplyDesk(parts);
}

/**
 * A reply is recorded with its effects in one transaction, under a row that was written before the handler ran: repeats
 * wait for it and get the same Message, and the row of a worker that died is taken over. A skill that only reads
 * (`effect: 'none'`) is not recorded; a repeat runs it again.
 */
class ReplyDesk implements Replies {
  readonly #parts: ReplyParts;
  readonly #drops = new Map<string, Drop>();
  /** Messages that are begun, executed or dropped here; other calls of them wait, so whatever row there is, is that one's. */
  readonly #taken = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #stopped = new AbortController();
  #isStopping = false;

  constructor(parts: ReplyParts) {
    this.#parts = parts;
  }

  async answer(request: SendRequest, how: ReplyHow): Promise<Submitted> {
    if (this.#isStopping) throw goingAway('Nothing was done; send the message again.');
    const { agent } = request;
    const isRecorded =
      agent.skills[how.skillId]?.effect !== 'none' && policyOf(agent, how.skillId).idempotency !== 'off';
    const work = isRecorded ? this.#recorded(request, how) : this.#unrecorded(request, how);
    const running = work.catch(() => 'its caller is told');
    this.#running.add(running);
    try {
      return await work;
    } finally {
      this.#running.delete(running);
    }
  }

  async stop(deadline: Instant): Promise<void> {
    this.#isStopping = true;
    if (this.#running.size === 0) return;
    const { clock } = this.#parts;
    const patience = new AbortController();
    const late = clock.sleep(Math.max(0, deadline - clock.now()), patience.signal).then(
      () => this.#stopped.abort(goingAway('Send the same message again.')),
      () => 'all ended in time',
    );
    await Promise.race([Promise.all(this.#running), late]);
    patience.abort();
    await late;
  }

  async retryDrops(): Promise<void> {
    for (const topic of [...this.#drops.keys()]) {
      await this.#alone(topic, () => this.#retryDrop(topic));
      this.#parts.wakeups.wake(topic);
    }
  }

  async #unrecorded(request: SendRequest, how: ReplyHow): Promise<Submitted> {
    const result = await this.#run(request, how);
    if (result.memoryWrites.length > 0) await how.scoped.memories.write(result.memoryWrites);
    return { kind: 'reply', message: result.message };
  }

  async #recorded(request: SendRequest, how: ReplyHow): Promise<Submitted> {
    const { clock, wakeups, config } = this.#parts;
    const topic = replyTopic(request);
    const giveUpAtMs = clock.monotonicMs() + config.sendWaitMaxMs;
    const listener = wakeups.listen(topic);
    try {
      while (clock.monotonicMs() < giveUpAtMs) {
        const answer = await this.#alone(topic, () => this.#begin(topic, request, how));
        if (answer !== undefined) return answer;
        await listener.next({ pollMs: config.pollMs, signal: this.#stopped.signal });
        const repeat = await how.findRepeat();
        if (repeat !== undefined) return repeat;
      }
    } finally {
      listener.close();
    }
    throw stillRunning(request.message.messageId);
  }

  /** Undefined, and nothing done, while another call of this process has the message. */
  async #alone<Result>(topic: string, work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#taken.has(topic)) return undefined;
    this.#taken.add(topic);
    try {
      return await work();
    } finally {
      this.#taken.delete(topic);
    }
  }

  /** Opens the row and executes; undefined where another worker has it. */
  async #begin(topic: string, request: SendRequest, how: ReplyHow): Promise<Submitted | undefined> {
    const { lease, wakeups } = this.#parts;
    const worker = lease.worker();
    if (worker === undefined) throw new CodedError('unavailable', { retryAfterSeconds: 1 });
    await this.#retryDrop(topic);
    const row = { messageId: request.message.messageId, workerNo: worker.workerNo };
    const begun = await how.scoped
      .beginReply({ ...row, fingerprint: how.fingerprint })
      .catch(async (error: unknown) => {
        // It may be written all the same, and then nobody would ever execute it.
        await this.#drop(topic, { scoped: how.scoped, ...row });
        wakeups.wake(topic);
        throw error;
      });
    return begun.kind === 'begun'
      ? await this.#execute(request, how, { topic, fence: begun.fence })
      : await how.findRepeat(begun.message);
  }

  /** Runs the handler under the row; undefined when another worker took the row over meanwhile and so has the reply. */
  async #execute(
    request: SendRequest,
    how: ReplyHow,
    at: { readonly topic: string; readonly fence: Fence },
  ): Promise<Submitted | undefined> {
    const { messageId } = request.message;
    const row = { messageId, fence: at.fence };
    try {
      const { message, memoryWrites } = await this.#run(request, how);
      const isOurs = await how.scoped.finishReply({
        ...row,
        reply: formatMessage(message),
        keepMs: this.#parts.config.replyKeepMs,
        memoryWrites,
      });
      return isOurs ? { kind: 'reply', message } : undefined;
    } catch (error) {
      await this.#drop(at.topic, { scoped: how.scoped, ...row });
      throw error;
    } finally {
      this.#parts.wakeups.wake(at.topic);
    }
  }

  async #retryDrop(topic: string): Promise<void> {
    const drop = this.#drops.get(topic);
    if (drop === undefined) return;
    await drop.scoped.dropReply(drop);
    this.#drops.delete(topic);
  }

  /** A failed reply leaves nothing behind; where the store cannot be reached, the drop is kept for later. */
  async #drop(topic: string, drop: Drop): Promise<void> {
    try {
      await drop.scoped.dropReply(drop);
    } catch (error) {
      this.#parts.log.warn('failed reply not dropped yet', { messageId: drop.messageId, error });
      this.#drops.set(topic, drop);
    }
  }

  async #run(request: SendRequest, how: ReplyHow): Promise<Reply> {
    const { agent, caller, message, traceId } = request;
    const session = message.contextId === undefined ? undefined : await how.scoped.readSession(message.contextId);
    const contextId = message.contextId ?? (this.#parts.newId() as ContextId);
    const threadId = session?.threadId ?? (this.#parts.newId() as ThreadId);
    const fields = { sessionId: contextId, threadId, ...(traceId === undefined ? {} : { traceId }) };
    const parts = { ...this.#parts, log: this.#parts.log.child(fields) };
    return await this.#inTime((signal) =>
      runReply(parts, {
        agent,
        caller,
        skillId: how.skillId,
        message: { ...message, contextId },
        session: { id: contextId, threadId },
        signal,
      }),
    );
  }

  /** A caller waits for a reply as long as for a task, and no longer, whatever its handler does. */
  async #inTime(work: (signal: AbortSignal) => Promise<Reply>): Promise<Reply> {
    const { clock, config } = this.#parts;
    const late = new AbortController();
    const answered = new AbortController();
    const tooLate = clock.sleep(config.sendWaitMaxMs, answered.signal).then(() => {
      late.abort(OVER);
      throw new CodedError('unavailable', {
        message: 'The agent did not reply in time. Send the same message again.',
        retryAfterSeconds: 1,
      });
    });
    try {
      return await Promise.race([work(AbortSignal.any([this.#stopped.signal, late.signal])), tooLate]);
    } finally {
      tooLate.catch(() => 'the reply came first');
      answered.abort(OVER);
    }
  }
}

function replyTopic({ agent, caller, message }: SendRequest): string {
  return `reply:${JSON.stringify([agent.name as AgentName, caller.scope, message.messageId])}`;
}
