import { z } from 'zod';
import { defineAgent } from '../../src/agent/define-agent.ts';
import { type Agent, type PolicyOptions, reply, skill } from '../../src/agent/definition.ts';
import { authRequired, completed, Fail, inputRequired, Reject } from '../../src/agent/errors.ts';
import type { ArtifactWriter, TaskTurn } from '../../src/agent/turn.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Duration } from '../../src/base/duration.ts';
import type { Ledger } from './ledger.ts';
import { type Op, readScript, type ScriptEnd } from './script.ts';

/** What a handler of the simulation touches outside its turn. */
export interface Outside {
  readonly clock: Clock;
  readonly ledger: Ledger;
}

/** A step of the simulation that failed on purpose, or a handler that threw on purpose. */
class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

const policies: Readonly<Record<string, PolicyOptions>> = {
  plain: {},
  queueing: { whenBusy: 'queue', cancel: 'submitted-only', onError: 'retry', crashesMax: 3 },
  once: { onCrash: 'fail' },
};

/** The agents that every process of the simulation serves. They differ in their policies alone. */
export function simulatedAgents(outside: Outside): readonly Agent[] {
  return Object.entries(policies).map(([name, policy]) =>
    defineAgent({
      name,
      description: `Does what it is told (${name}).`,
      policy,
      skills: {
        default: skill({ description: 'Runs a script.', run: (turn) => runScript(outside, turn) }),
        note: reply({
          description: 'Answers after so many milliseconds.',
          run: async (turn) => {
            await outside.clock.sleep(Number(turn.text), turn.signal);
            return `note ${outside.ledger.replied()}`;
          },
        }),
      },
    }),
  );
}

async function runScript(outside: Outside, turn: TaskTurn<string>) {
  const { ops, end } = readScript(turn.text);
  const out = new Transcript(turn.artifact('out'));
  for (const op of ops) await runOp(outside, turn, op, out);
  await out.say('end');
  const { taskId, attempt, message } = turn;
  outside.ledger.wrote({ taskId, messageId: message.messageId, attempt }, out.text);
  return ending(end);
}

/** An artifact and what was written into it, from the top, in this run. */
class Transcript {
  text = '';
  readonly #artifact: ArtifactWriter;

  constructor(artifact: ArtifactWriter) {
    this.#artifact = artifact;
  }

  async say(words: string): Promise<void> {
    this.text += words;
    await this.#artifact.append(words);
  }
}

function ending(end: ScriptEnd) {
  switch (end) {
    case 'return':
      return 'done';
    case 'completed':
      return completed('All done.');
    case 'input':
      return inputRequired('What next?');
    case 'auth':
      return authRequired('Sign in, then go on.');
    case 'fail':
      throw new Fail('It went wrong.', { code: 'wrong' });
    case 'reject':
      throw new Reject('Not today.');
    case 'throw':
      throw new ScriptError('thrown on purpose');
  }
}

async function runOp(outside: Outside, turn: TaskTurn<string>, op: Op, out: Transcript): Promise<void> {
  if (op.op === 'chunks') {
    for (const word of op.words) {
      if (op.everyMs > 0) await outside.clock.sleep(op.everyMs, turn.signal);
      // Where the log holds the word already nothing is written, which is no sign of life.
      turn.alive();
      await out.say(word);
    }
  } else if (op.op === 'together') {
    const said = await Promise.all(op.ops.map((inner) => outcomeOf(outside, turn, inner)));
    await out.say(`[${said.join(' ')}]`);
  } else {
    await out.say(`[${await outcomeOf(outside, turn, op)}]`);
  }
}

async function outcomeOf(outside: Outside, turn: TaskTurn<string>, op: Op): Promise<string> {
  switch (op.op) {
    case 'step':
      return await stepOutcome(outside, turn, op);
    case 'ask':
      return await askOutcome(turn, op);
    case 'authorize':
      return await expected(turn.authorize({ scheme: op.scheme }), () => `signed in ${op.scheme}`);
    case 'sleep':
      await turn.sleep(`${op.seconds * 1_000}ms`);
      return `slept ${op.seconds}`;
    case 'status':
      await turn.status(op.text);
      return op.text;
    case 'scrap':
      if (turn.attempt === 1) await turn.artifact(op.name).append('scrap');
      return op.name;
    case 'count':
      return await countOutcome(turn);
    case 'quiet':
      for (let second = 0; second < op.seconds; second += 5) {
        await outside.clock.sleep(5_000, turn.signal);
        turn.alive();
      }
      return `quiet ${op.seconds}`;
    default:
      return op.op;
  }
}

async function stepOutcome({ clock, ledger }: Outside, turn: TaskTurn<string>, op: Op & { readonly op: 'step' }) {
  const place = {
    taskId: turn.taskId,
    messageId: turn.message.messageId,
    name: op.name,
    fence: Number(turn.fence),
  };
  const work = turn.step(op.name, async ({ idempotencyKey, signal, attempt }) => {
    const calls = ledger.stepBegins({ ...place, idempotencyKey });
    if (op.ms > 0) await clock.sleep(op.ms, signal);
    if (attempt <= op.fails) {
      ledger.stepFailed(place);
      throw new ScriptError(`step ${op.name} fails`);
    }
    return `${op.name}=${calls}`;
  });
  const result = await work;
  ledger.stepGave(place, result);
  return result;
}

async function askOutcome(turn: TaskTurn<string>, op: Op & { readonly op: 'ask' }): Promise<string> {
  const timeout = op.timeoutS > 0 ? { timeout: `${op.timeoutS}s` as Duration } : {};
  return op.wants === 'number'
    ? await expected(turn.ask(op.name, { schema: z.number().min(1), ...timeout }), (n) => `${op.name}=${n}`)
    : await expected(turn.ask(op.name, timeout), (text) => `${op.name}=${text}`);
}

/** Whatever a caller may do to a question is part of the transcript. */
async function expected<Value>(answer: Promise<Value>, words: (value: Value) => string): Promise<string> {
  try {
    return words(await answer);
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'Expired' || name === 'Declined') return name;
    throw error;
  }
}

/** Other tasks count in the same key, so what this turn once read must come from its journal in every later run. */
async function countOutcome(turn: TaskTurn<string>): Promise<string> {
  const before = await turn.state.get('count');
  const count = typeof before === 'number' ? before + 1 : 1;
  turn.state.set('count', count);
  return `count ${count}, read ${JSON.stringify(await turn.state.get('count'))}`;
}
