import { Declined, Expired } from '../agent/errors.ts';
import { flatJsonSchema } from '../agent/json-schema.ts';
import type { AskOptions, AuthorizeRequest } from '../agent/turn.ts';
import { type Instant, instant } from '../base/clock.ts';
import { type Duration, durationMs } from '../base/duration.ts';
import type { JournalEntry } from '../model/journal.ts';
import { type Question, questionOf } from '../model/question.ts';
import { readAnswer } from './answer-value.ts';
import { contentNotKept } from './artifact-writer.ts';
import { letOthersGoOn } from './event-loop.ts';
import type { Suspension } from './parking.ts';
import type { RunContext } from './run-context.ts';
import { rowEmission } from './step.ts';

/** Shorter sleeps are not worth a park: they stay where they are, with their worker. */
const IN_PLACE_MS = 5_000;
/** A suspension whose step is still open after this may be waiting for itself. */
const QUIET_WARNING_MS = 30_000;

/**
 * The suspensions of one run: `ask`, `authorize` and `sleep`. Each gives its recorded outcome, or a promise that does
 * not settle in this run. Once there is one, the turn parks as soon as it is quiet: when none of its steps, short
 * sleeps and writes is open, for all of them would be paid for twice.
 */
export class Suspensions {
  readonly #context: RunContext;
  readonly #park: () => void;
  readonly #open: Suspension[] = [];
  #isParking = false;

  constructor(context: RunContext, park: () => void) {
    this.#context = context;
    this.#park = park;
  }

  /** What the run waits for, in the order in which its handler asked. */
  get open(): readonly Suspension[] {
    return this.#open;
  }

  async ask(text: string, options: AskOptions = {}): Promise<unknown> {
    const { phase, journal, keepsContent, scope } = this.#context;
    if (!phase.isLive) return phase.never();
    scope.refuseInside('ask');
    if (!keepsContent) throw contentNotKept('turn.ask');
    const key = journal.nextKey('ask', text);
    const found = await this.#outcome(key, text);
    if (found === undefined) return this.#suspend(askQuestion(key, text, options), options.timeout);
    const answer = await phase.call(() => readAnswer(found, options.schema));
    if (answer.ok) return answer.value;
    return this.#suspend(askQuestion(key, `${answer.reason} ${text}`, options), options.timeout);
  }

  async authorize(request: AuthorizeRequest): Promise<void> {
    const { phase, journal, keepsContent, scope } = this.#context;
    if (!phase.isLive) return phase.never();
    scope.refuseInside('authorize');
    if (!keepsContent && request.text !== undefined) throw contentNotKept('turn.authorize');
    const key = journal.nextKey('authorize', request.scheme);
    const text = request.text ?? signInText(request);
    const found = await this.#outcome(key, text);
    if (found !== undefined) return;
    const { scheme, url } = request;
    const question: Question = { kind: 'authorize', askId: key, text, scheme, ...(url === undefined ? {} : { url }) };
    return this.#suspend(question, request.timeout);
  }

  async sleep(until: Duration | Date): Promise<void> {
    const { phase, journal, scope, parts } = this.#context;
    if (!phase.isLive) return phase.never();
    scope.refuseInside('sleep');
    const now = parts.clock.now();
    const dueAt = wakeTime(until, now);
    const key = journal.nextKey('sleep', typeof until === 'string' ? until : 'until');
    const found = journal.find(key);
    if (found?.state === 'done') return;
    const entry: JournalEntry = found ?? { key, kind: 'sleep', state: 'open', dueAt };
    const wakeAt = entry.dueAt ?? dueAt;
    const remainingMs = wakeAt - now;
    if (remainingMs < IN_PLACE_MS) return phase.call(() => this.#sleepHere(entry, found, remainingMs));
    return this.#add({ key, kind: 'sleep', dueAt: wakeAt, isNew: found === undefined });
  }

  async #sleepHere(entry: JournalEntry, found: JournalEntry | undefined, remainingMs: number): Promise<void> {
    const { parts, journal, emitter, signal } = this.#context;
    if (remainingMs > 0) await parts.clock.sleep(remainingMs, signal);
    const row = rowEmission(journal.row({ ...entry, state: 'done' }));
    if (found === undefined) return emitter.emit(row);
    return emitter.emit({
      ...row,
      facts: [...row.facts, { kind: 'event', event: { kind: 'timer-fired', key: entry.key } }],
    });
  }

  /** The recorded end of a question; undefined while there is none. One whose time is up has expired, whoever notices. */
  async #outcome(key: string, text: string): Promise<JournalEntry | undefined> {
    const { journal, phase, parts } = this.#context;
    const found = journal.find(key);
    if (found === undefined) return undefined;
    const isOver = found.state === 'open' && found.dueAt !== undefined && found.dueAt <= parts.clock.now();
    if (isOver) await phase.call(() => this.#expire(found));
    if (isOver || found.state === 'expired') throw new Expired(`Nobody answered in time: ${text}`);
    if (found.state === 'declined') throw new Declined(`The caller declined to answer: ${text}`);
    return found.state === 'done' ? found : undefined;
  }

  #expire(found: JournalEntry): Promise<void> {
    const { journal, emitter } = this.#context;
    const row = rowEmission(journal.row({ ...found, state: 'expired' }));
    return emitter.emit({
      ...row,
      facts: [...row.facts, { kind: 'event', event: { kind: 'question-answered', askId: found.key, how: 'expired' } }],
    });
  }

  /** A question that is open already keeps its words and its time; one whose answer did not fit is asked anew. */
  #suspend<Result>(question: Question, timeout: Duration | undefined): Promise<Result> {
    const found = this.#context.journal.find(question.askId);
    if (found?.state === 'open') {
      const { dueAt } = found;
      const kept = questionOf(found);
      return this.#add({
        key: found.key,
        kind: kept.kind,
        question: kept,
        isNew: false,
        ...(dueAt === undefined ? {} : { dueAt }),
      });
    }
    const now = this.#context.parts.clock.now();
    const due = timeout === undefined ? {} : { dueAt: instant(now + durationMs(timeout)) };
    return this.#add({ key: question.askId, kind: question.kind, question, isNew: true, ...due });
  }

  #add<Result>(suspension: Suspension): Promise<Result> {
    const { phase } = this.#context;
    if (phase.isLive) {
      this.#open.push(suspension);
      if (!this.#isParking) this.#parkWhenQuiet();
    }
    return phase.never();
  }

  #parkWhenQuiet(): void {
    this.#isParking = true;
    const parking = new AbortController();
    this.#warnOfDeadlock(parking.signal);
    this.#untilQuiet().then(() => {
      parking.abort();
      if (this.#context.phase.isLive) this.#park();
    });
  }

  async #untilQuiet(): Promise<void> {
    const { phase } = this.#context;
    const isQuiet = (): boolean => phase.openWork === 0 || !phase.isLive;
    do {
      await phase.until(isQuiet);
      await letOthersGoOn();
    } while (!isQuiet());
  }

  #warnOfDeadlock(parked: AbortSignal): void {
    const { parts, scope, log } = this.#context;
    parts.clock.sleep(QUIET_WARNING_MS, parked).then(
      () =>
        log.warn('a suspension waits for open steps; if one of them waits for it, the turn never goes on', {
          suspensions: this.#open.map(({ key }) => key),
          steps: scope.openSteps,
        }),
      () => {},
    );
  }
}

function askQuestion(askId: string, text: string, { schema }: AskOptions): Question {
  const flat = schema === undefined ? undefined : flatJsonSchema(schema);
  return { kind: 'ask', askId, text, ...(flat === undefined ? {} : { schema: flat }) };
}

function signInText({ scheme, url }: AuthorizeRequest): string {
  const text = `Sign in to go on: ${scheme}`;
  return url === undefined ? text : `${text} ${url}`;
}

function wakeTime(until: Duration | Date, now: Instant): Instant {
  if (typeof until === 'string') return instant(now + durationMs(until));
  const at = until.getTime();
  if (Number.isNaN(at)) throw new RangeError('turn.sleep was given an invalid Date.');
  return instant(at);
}
