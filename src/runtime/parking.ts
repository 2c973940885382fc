import { formatInstant, type Instant } from '../base/clock.ts';
import type { NewEvent } from '../model/event.ts';
import type { JournalKind } from '../model/journal.ts';
import type { Message } from '../model/message.ts';
import { type Question, questionJson, questionParts } from '../model/question.ts';
import type { Wake } from '../model/run.ts';
import type { Parked } from '../model/run-decide.ts';
import type { JournalWrite } from '../model/task-write.ts';
import { agentMessage, type RunContext } from './run-context.ts';

/** Something that a run waits for. */
export interface Suspension {
  readonly key: string;
  readonly kind: Exclude<JournalKind, 'step'>;
  readonly dueAt?: Instant;
  /** What the caller is asked; a sleep asks nothing. */
  readonly question?: Question;
  /** False when an earlier run opened it, so that its row and its event are there. */
  readonly isNew: boolean;
}

/** How a run ends that waits: its new suspensions as rows and events, what wakes it, and what the caller is asked. */
export function parkedEnding(context: RunContext, open: readonly Suspension[]): Parked {
  const opened = open.filter(({ isNew }) => isNew);
  const shown = shownQuestion(open);
  return {
    kind: 'parked',
    suspensions: opened.map((suspension) => rowOf(context, suspension)),
    events: opened.map(eventOf),
    wake: wakeOf(open, shown),
    ...(shown?.question === undefined ? {} : { status: statusOf(context, shown, shown.question) }),
  };
}

function rowOf(context: RunContext, { key, kind, dueAt, question }: Suspension): JournalWrite {
  return context.journal.row({
    key,
    kind,
    state: 'open',
    ...(dueAt === undefined ? {} : { dueAt }),
    ...(question === undefined ? {} : { question: questionJson(question) }),
  });
}

function eventOf({ key, question, dueAt }: Suspension): NewEvent {
  if (question !== undefined) return { kind: 'question-asked', askId: key, question: questionJson(question) };
  return { kind: 'timer-set', key, wakeAt: dueAt as Instant };
}

/** A question stands before a sign-in, and one that the caller has not seen before one that is open already. */
function shownQuestion(open: readonly Suspension[]): Suspension | undefined {
  const asks = open.filter(({ kind }) => kind === 'ask');
  const questions = asks.length > 0 ? asks : open.filter(({ kind }) => kind === 'authorize');
  return questions.find(({ isNew }) => isNew) ?? questions[0];
}

function wakeOf(open: readonly Suspension[], shown: Suspension | undefined): Wake {
  const times = open.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt]));
  const at = times.length === 0 ? undefined : (Math.min(...times) as Instant);
  return { ...(at === undefined ? {} : { at }), ...(shown === undefined ? {} : { key: shown.key }) };
}

function statusOf(context: RunContext, { dueAt }: Suspension, question: Question): NonNullable<Parked['status']> {
  const parts = questionParts(question, dueAt === undefined ? undefined : formatInstant(dueAt));
  const state = question.kind === 'ask' ? 'input-required' : 'auth-required';
  return { state, message: unsaidMessage(context, question.askId, parts) };
}

/** The same question may be put several times, after an answer that did not fit or a timer beside it; each is a message of its own. */
function unsaidMessage(context: RunContext, askId: string, parts: Message['parts']): Message {
  for (let round = 1; ; round += 1) {
    const message = agentMessage(context.grant, ['question', askId, round], parts);
    if (!context.knownMessages.has(message.messageId)) return message;
  }
}
