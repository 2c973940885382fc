import { policyOf } from '../agent/define-agent.ts';
import { readInput } from '../agent/input.ts';
import { assert } from '../base/assert.ts';
import { fieldError } from '../base/errors.ts';
import type { NewEvent } from '../model/event.ts';
import type { AgentName, MessageId, RunId, TaskId, TurnNo } from '../model/ids.ts';
import type { Message } from '../model/message.ts';
import { type ContinueRequest, type Decision, decideContinue, queuedDeadline, refusal } from '../model/task-decide.ts';
import type { Written } from '../model/task-ending.ts';
import type { TaskView } from '../model/task-view.ts';
import type { Fingerprint, TaskWrite } from '../model/task-write.ts';
import type { CommandResult, KnownMessage, ScopedStore } from '../store/contract.ts';
import { needsStaging, type StagedParts, stageParts } from './blob-staging.ts';
import { untilWritten } from './command-tries.ts';
import { inputArtifacts } from './input-artifacts.ts';
import { placeRun } from './local-grant.ts';
import { taskFields } from './log-fields.ts';
import type { NewTaskParts } from './new-task.ts';
import type { SendRequest, Submitted } from './ports.ts';
import { taskNotFound } from './task-answers.ts';
import { sealContent, withholdContent } from './thin-message.ts';

export interface ContinueHow {
  readonly taskId: TaskId;
  readonly fingerprint: Fingerprint;
  /** Looks whether another call with this message was first; that one's task is then the answer. */
  readonly findRepeat: (known?: KnownMessage) => Promise<Submitted | undefined>;
}

/**
 * Gives a message to a task that is there: as the answer to its question, as its next turn, or as a queued turn. Decided
 * on an unlocked read and written only where the task has not moved; nothing is stored for a message that is refused.
 */
export async function continueTask(parts: NewTaskParts, request: SendRequest, how: ContinueHow): Promise<Submitted> {
  const scoped = parts.store.scoped(request.agent.name as AgentName, request.caller.scope);
  const continuation = new Continuation(parts, request, how);
  return await untilWritten(async () => {
    const view = await scoped.readTask(how.taskId);
    if (view === undefined) throw taskNotFound(how.taskId);
    checkContext(view, request.message);
    return await continuation.attempt(scoped, view);
  });
}

function checkContext(view: TaskView, message: Message): void {
  if (message.contextId === undefined || message.contextId === view.task.contextId) return;
  throw fieldError(
    'message.contextId',
    `is not the context of task ${view.task.id}; leave it out, or send ${view.task.contextId}`,
  );
}

class Continuation {
  readonly #parts: NewTaskParts;
  readonly #request: SendRequest;
  readonly #how: ContinueHow;
  #staged: StagedParts | undefined;

  constructor(parts: NewTaskParts, request: SendRequest, how: ContinueHow) {
    this.#parts = parts;
    this.#request = request;
    this.#how = how;
  }

  /** One decision and its write; undefined when the task moved in between. */
  async attempt(scoped: ScopedStore, view: TaskView): Promise<Submitted | undefined> {
    let decision = this.#decide(view);
    if (decision.kind === 'refused') {
      const repeat = await this.#how.findRepeat();
      if (repeat !== undefined) return repeat;
      throw refusal(decision);
    }
    assert(decision.kind === 'write', 'a message always changes the task');
    await this.#prepare(view, decision);
    decision = this.#decide(view);
    assert(decision.kind === 'write', 'one view gives one decision');
    const write = this.#dress(view, decision);
    const result = await this.#write(scoped, view, write);
    if (result.kind === 'gone') throw taskNotFound(this.#how.taskId);
    if (result.kind === 'repeated') return await this.#how.findRepeat(result.message);
    return result.kind === 'moved' ? undefined : this.#submitted(result, decision.turnNo);
  }

  #decide(view: TaskView): Decision {
    const parts = this.#parts;
    const { agent, caller } = this.#request;
    const policy = policyOf(agent, view.turn.skill);
    const message = this.#placed(view);
    const request: ContinueRequest = {
      message,
      inputs: policy.storeContent ? inputArtifacts({ ...message, taskId: view.task.id, turnNo: view.task.turnNo }) : [],
      principal: caller.principal,
      agentVersion: agent.version,
      policy,
      times: parts.config.times,
      queuedTurnsMax: parts.config.queuedTurnsMax,
      ids: { runId: parts.newId() as RunId, statusMessageId: parts.newId() as MessageId },
      ...(policy.storeContent ? {} : { input: sealContent(parts.secrets, this.#request.message) }),
    };
    return decideContinue(view, request);
  }

  /** What must hold or lie in the store before the write: the input of a turn that would begin, and large files. */
  async #prepare(view: TaskView, { write }: Written): Promise<void> {
    const { agent, message } = this.#request;
    const begins = write.turns?.some((turn) => turn.kind === 'begin' || turn.kind === 'enqueue') ?? false;
    if (begins && agent.skills[view.turn.skill] !== undefined) await readInput(agent, view.turn.skill, message);
    if (this.#staged !== undefined || !needsStaging(message.parts)) return;
    if (policyOf(agent, view.turn.skill).storeContent)
      this.#staged = await stageParts(this.#parts.store, message.parts);
  }

  #placed(view: TaskView): Message {
    const { message } = this.#request;
    return {
      ...message,
      parts: this.#staged?.parts ?? message.parts,
      contextId: view.task.contextId,
      taskId: view.task.id,
    };
  }

  /** The decision with what only the shell knows: where its messages and files belong, thin content, blobs, the idempotency row. */
  #dress(view: TaskView, { write, turnNo }: Written): TaskWrite {
    const { message, agent } = this.#request;
    const policy = policyOf(agent, view.turn.skill);
    const dressed = (event: NewEvent): NewEvent => {
      if (event.kind === 'artifact-updated') return { ...event, turnNo };
      if (event.kind === 'status-changed' && event.message !== undefined)
        return { ...event, message: { ...event.message, contextId: view.task.contextId, taskId: view.task.id } };
      if (event.kind === 'message-received' && !policy.storeContent)
        return { ...event, message: withholdContent(event.message) };
      return event;
    };
    return {
      ...write,
      events: write.events.map(dressed),
      ...(policy.idempotency === 'off'
        ? {}
        : { idempotency: { messageId: message.messageId, fingerprint: this.#how.fingerprint, turnNo } }),
      ...(this.#staged === undefined ? {} : { blobs: this.#staged.blobs }),
    };
  }

  async #write(scoped: ScopedStore, view: TaskView, write: TaskWrite): Promise<CommandResult> {
    const { task } = view;
    const command = async (final: TaskWrite): Promise<CommandResult> => {
      const result = await scoped.command(task.id, task.headSeq, final);
      if (result.kind === 'written') this.#parts.hub.publish(task.no, result.events);
      return result;
    };
    if (!queuesRun(write)) return await command(write);
    const queued = queuedDeadline(this.#parts.config.times);
    const result = await placeRun(this.#parts, queued === 'none' ? undefined : queued, ({ grantTo, deadline }) =>
      command({ ...write, deadline: deadline ?? 'none', ...(grantTo === undefined ? {} : { grantTo }) }),
    );
    if (result.kind === 'written' && result.grant === undefined) this.#parts.hub.runnable();
    return result;
  }

  #submitted(result: Extract<CommandResult, { kind: 'written' }>, turnNo: TurnNo): Submitted {
    const received = result.events.find((event) => event.kind === 'message-received');
    assert(received !== undefined, 'the message is among the events of its write');
    this.#parts.log.debug('message taken', taskFields(result.task));
    const { task } = result;
    return { kind: 'task', task, taskNo: task.no, turnNo, messageSeq: received.seq, repeated: false };
  }
}

function queuesRun(write: TaskWrite): boolean {
  return write.runs?.some((run) => run.kind === 'queue') ?? false;
}
