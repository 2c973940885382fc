import type { Agent } from '../agent/definition.ts';
import type { AskOptions, Memories, StepOptions, TaskTurn } from '../agent/turn.ts';
import type { Message } from '../model/message.ts';
import { Artifacts } from './artifacts.ts';
import { createBaseTurn } from './base-turn.ts';
import { createMemories } from './memories.ts';
import { type RunContext, turnId } from './run-context.ts';
import type { RunPhase } from './run-phase.ts';
import { SessionState } from './session-state.ts';
import { StatusWriter } from './status-writer.ts';
import { runStep, type StepWork } from './step.ts';
import { Suspensions } from './suspensions.ts';
import { openContent } from './thin-message.ts';

type Cleanup = () => void | Promise<void>;

/** A turn in the hands of its handler, and what the runtime reads back from it when the run ends. */
export interface LiveTurn {
  readonly turn: TaskTurn<unknown>;
  readonly suspensions: Suspensions;
  readonly artifacts: Artifacts;
  /** What the handler deferred, in the order in which it did. */
  readonly cleanups: readonly Cleanup[];
}

/** Makes the turn that a task skill's handler gets. Throws `invalid_argument` when the skill refuses the message. */
export async function createLiveTurn(context: RunContext, agent: Agent, park: () => void): Promise<LiveTurn> {
  const { grant, material, phase, parts } = context;
  const artifacts = new Artifacts(context);
  const statuses = new StatusWriter(context);
  const suspensions = new Suspensions(context, park);
  const cleanups: Cleanup[] = [];
  const base = await createBaseTurn({
    parts,
    agent,
    skillId: grant.turn.skill,
    message: messageOf(context),
    caller: { principal: grant.turn.principal, scope: grant.scope },
    session: { id: grant.contextId, threadId: grant.threadId },
    signal: context.signal,
    log: context.log,
    memories: taskMemories(context),
  });
  const turn: TaskTurn<unknown> = {
    ...base,
    taskId: grant.taskId,
    attempt: grant.attempt,
    fence: BigInt(grant.fence),
    history: historyBefore(material.content.history, base.message),
    step: ((name: string, work: StepWork, options?: StepOptions) =>
      phase.call(() => runStep(context, name, work, options))) as TaskTurn<unknown>['step'],
    sleep: (until) => handled(suspensions.sleep(until)),
    ask: ((question: string, options?: AskOptions) =>
      handled(suspensions.ask(question, options))) as TaskTurn<unknown>['ask'],
    authorize: (request) => handled(suspensions.authorize(request)),
    status: (said) => phase.call(() => statuses.write(said)),
    artifact: (name, options) => artifacts.open(name, options),
    pipe: (name, chunks, options) => phase.wait(() => pipe(artifacts.open(name, options), chunks)),
    alive: () => context.emitter.alive(),
    key: (name) => turnId(grant, 'key', name),
    state: new SessionState(context),
    defer: (cleanup) => {
      if (phase.isLive) cleanups.push(cleanup);
    },
  };
  return { turn, suspensions, artifacts, cleanups };
}

/** The message that began the turn; of an agent that keeps no content, as it was before it was withheld. */
function messageOf({ material, parts }: RunContext): Message {
  const { message } = material.message;
  return material.input === undefined ? message : openContent(parts.secrets, message, material.input);
}

function historyBefore(history: readonly Message[], message: Message): readonly Message[] {
  const index = history.findIndex(({ messageId }) => messageId === message.messageId);
  return index < 0 ? history : history.slice(0, index);
}

async function pipe(
  artifact: ReturnType<Artifacts['open']>,
  chunks: AsyncIterable<string> | Iterable<string>,
): Promise<string> {
  let text = '';
  for await (const chunk of chunks) {
    text += chunk;
    await artifact.append(chunk);
  }
  await artifact.close();
  return text;
}

/** An error that the handler does not wait for must not end the process; one it waits for it gets all the same. */
function handled<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => {});
  return promise;
}

/** Written at once; inside a step they happen once. After the run has ended they are as inert as everything else. */
function taskMemories({ parts, grant, phase }: RunContext): Memories {
  const store = parts.store.scoped(grant.agent, grant.scope).memories;
  const memories = createMemories({ store, newId: parts.newId, write: (write) => store.write([write]) });
  return inertAfterEnd(memories, phase);
}

function inertAfterEnd(memories: Memories, phase: RunPhase): Memories {
  return {
    remember: (memory) => phase.call(() => memories.remember(memory)),
    recall: (query, options) => phase.call(() => memories.recall(query, options)),
    read: (id) => phase.call(() => memories.read(id)),
    list: (options) => phase.call(() => memories.list(options)),
    forget: (id) => phase.call(() => memories.forget(id)),
    grant: (id, to) => phase.call(() => memories.grant(id, to)),
  };
}
