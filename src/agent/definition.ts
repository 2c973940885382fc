import type { Message } from '../model/message.ts';
import type { Completion, Interruption } from './errors.ts';
import type { Schema, SchemaInput, SchemaOutput } from './schema.ts';
import type { BaseTurn, TaskTurn } from './turn.ts';

type OptionalSchema = Schema | undefined;
type InputOf<S> = S extends Schema ? SchemaOutput<S> : string;
// biome-ignore lint/suspicious/noConfusingVoidType: a handler may end in a call that returns nothing
type OutputOf<S> = S extends Schema ? SchemaInput<S> : string | undefined | void;
type Returned<S> = OutputOf<S> | Interruption | Completion;

/** How an agent, or one skill of it, treats its tasks. */
export interface PolicyOptions {
  /** A message for a task at work: refused (default), or queued as its next turn. */
  readonly whenBusy?: 'reject' | 'queue';
  /** Runs of one session at a time; no limit by default. */
  readonly concurrency?: { readonly perSession?: number };
  readonly cancel?: 'any' | 'submitted-only';
  readonly onCrash?: 'retry' | 'fail';
  readonly crashesMax?: number;
  readonly onError?: 'fail' | 'retry';
  /** `off`: a message id may be used again with other content. */
  readonly idempotency?: 'messageId' | 'off';
  /** `false` keeps rows thin: no text, no bytes; artifacts and status messages hold urls and ids only. */
  readonly storeContent?: boolean;
}

interface SkillFacts {
  readonly description: string;
  /** Shown to people; the skill's id by default. */
  readonly title?: string;
  readonly tags?: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
}

/** A skill that is a task: durable, streamed, may ask, sleep and take days. */
export interface TaskSkill<I extends OptionalSchema = OptionalSchema, O extends OptionalSchema = OptionalSchema>
  extends SkillFacts {
  readonly kind: 'task';
  readonly input: I;
  readonly output: O;
  /** What a person reads beside the output: a text part before the data part. */
  say?(output: SchemaOutput<O>): string;
  readonly policy?: PolicyOptions;
  run(turn: TaskTurn<InputOf<I>>): Promise<Returned<O>> | Returned<O>;
}

/** A skill that answers at once with one Message and leaves no task. */
export interface ReplySkill<I extends OptionalSchema = OptionalSchema, O extends OptionalSchema = OptionalSchema>
  extends SkillFacts {
  readonly kind: 'reply';
  readonly input: I;
  readonly output: O;
  /** What a person reads beside the output: a text part before the data part. */
  say?(output: SchemaOutput<O>): string;
  /** `none`: it only reads, so a repeat may run again and nothing is recorded. */
  readonly effect: 'none' | 'some';
  run(turn: BaseTurn<InputOf<I>>): Promise<OutputOf<O>> | OutputOf<O>;
}

/** Any skill, once its types no longer matter; the runtime calls it with the turn it made. */
export interface AnySkill extends SkillFacts {
  readonly kind: 'task' | 'reply';
  readonly input: OptionalSchema;
  readonly output: OptionalSchema;
  say?(output: never): string;
  readonly policy?: PolicyOptions;
  readonly effect?: 'none' | 'some';
  run(turn: never): unknown;
}

/** Declares a durable skill. `input` and `output` are Standard Schemas; without them it is text in and text out. */
export function skill<I extends OptionalSchema = undefined, O extends OptionalSchema = undefined>(
  options: SkillFacts & {
    readonly input?: I;
    readonly output?: O;
    say?(output: SchemaOutput<NoInfer<O>>): string;
    readonly policy?: PolicyOptions;
    run(turn: TaskTurn<InputOf<NoInfer<I>>>): Promise<Returned<NoInfer<O>>> | Returned<NoInfer<O>>;
  },
): TaskSkill<I, O> {
  return { ...options, kind: 'task', input: options.input as I, output: options.output as O };
}

/** Declares a skill that answers with one Message. The compiler refuses `ask`, `step` and the like in it. */
export function reply<I extends OptionalSchema = undefined, O extends OptionalSchema = undefined>(
  options: SkillFacts & {
    readonly input?: I;
    readonly output?: O;
    say?(output: SchemaOutput<NoInfer<O>>): string;
    readonly effect?: 'none' | 'some';
    run(turn: BaseTurn<InputOf<NoInfer<I>>>): Promise<OutputOf<NoInfer<O>>> | OutputOf<NoInfer<O>>;
  },
): ReplySkill<I, O> {
  return {
    ...options,
    kind: 'reply',
    input: options.input as I,
    output: options.output as O,
    effect: options.effect ?? 'some',
  };
}

export interface AgentFacts {
  /** A routing name too: `[a-z0-9-]{1,63}`. */
  readonly name: string;
  readonly description: string;
  /** Stored with each turn. By default a hash of the entry module, or `0`. */
  readonly version?: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  /** Picks the skill of a message that begins a task; pure and sync; undefined leaves it to the rules. */
  readonly dispatch?: (message: Message) => string | undefined;
  readonly policy?: PolicyOptions;
}

/** A defined agent, as servers and the runtime take it. */
export interface Agent<Skills extends Readonly<Record<string, AnySkill>> = Readonly<Record<string, AnySkill>>>
  extends AgentFacts {
  readonly skills: Skills;
  readonly version: string;
}
