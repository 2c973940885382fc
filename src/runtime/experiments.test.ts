import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import type { TaskTurn } from '../agent/turn.ts';
import { RunWorld } from '../testing/run-world.ts';
import type { Intercept } from '../testing/store-handle.ts';

/*
 * What broke a prototype of the author's API, kept as tests of the real one: agent frameworks that catch what a tool
 * throws, models that are still speaking when a tool asks, code that changes under a waiting task, adapters.
 */

type Run = (turn: TaskTurn<string>, world: RunWorld) => unknown;

async function opened(run: Run, intercept?: Intercept): Promise<RunWorld> {
  const call = (turn: TaskTurn<string>): unknown => run(turn, world);
  const agent = defineAgent({ name: 'tester', description: 'd', run: call as never, policy: { crashesMax: 50 } });
  const world: RunWorld = await RunWorld.open({ agent, ...(intercept === undefined ? {} : { intercept }) });
  return world;
}

interface ToolCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}
type Reply = ToolCall | readonly string[];
/** Answers to a prompt: what was said before, the results of tools among it. */
type Model = (said: readonly string[]) => Promise<Reply>;
type Tools = Readonly<Record<string, (args: never) => Promise<string>>>;

/** An agent framework in small: like the real ones it catches what a tool throws and tells the model of it. */
async function* agentLoop(model: Model, tools: Tools): AsyncGenerator<string> {
  const said: string[] = [];
  for (let step = 0; step < 5; step += 1) {
    const reply = await model(said);
    if (Array.isArray(reply)) {
      yield* reply;
      return;
    }
    const { tool, args } = reply as ToolCall;
    said.push(
      await (tools[tool] as (args: unknown) => Promise<string>)(args).catch(
        (error: Error) => `error: ${error.message}`,
      ),
    );
  }
}

/** Each call of the model is paid for once, whatever dies: an adapter of a few lines, like the real one. */
function durable(turn: TaskTurn<string>, model: Model): Model {
  return (said) => turn.step('model', () => model(said) as never);
}

/** Dies with the n-th store call of each of the first `deaths` processes. */
function dieAt(number: number, deaths = 1): Intercept {
  let died = 0;
  return (call) => {
    if (died >= deaths || call.number !== number) return 'pass';
    died += 1;
    return 'die-after';
  };
}

describe('1 · a suspension is a promise that does not settle, never an exception', () => {
  test('a framework that swallows exceptions sees none, and the model is not asked again', async () => {
    let modelCalls = 0;
    let charged = 0;
    const keys = new Set<string>();
    let deferred = 0;
    let finallyRan = 0;
    const run: Run = async (turn) => {
      turn.defer(() => {
        deferred += 1;
      });
      const model: Model = async (said) => {
        modelCalls += 1;
        return said.length === 0 ? { tool: 'refund', args: { order: 'A1' } } : ['Re', 'fun', 'ded', '.'];
      };
      const refund = async ({ order }: { readonly order: string }): Promise<string> => {
        if ((await turn.ask(`Refund ${order}?`)) !== 'yes') return 'refused';
        return await turn.step('charge', ({ idempotencyKey }) => {
          charged += 1;
          keys.add(idempotencyKey);
          return 'ok';
        });
      };
      try {
        await turn.pipe('answer', agentLoop(durable(turn, model), { refund }));
      } finally {
        finallyRan += 1;
      }
    };
    for (let number = 4; number < 12; number += 1) {
      [modelCalls, charged, deferred, finallyRan] = [0, 0, 0, 0];
      keys.clear();
      const world = await opened(run, dieAt(number));
      await world.send('refund A1');
      expect(await world.state(), `call ${number}`).toBe('input-required');
      expect([charged, finallyRan, deferred]).toEqual([0, 0, 1]);
      await world.answer('yes');
      expect(await world.artifactText('answer'), `call ${number}`).toBe('Refunded.');
      expect(keys.size).toBe(1);
      expect(modelCalls + charged).toBeLessThanOrEqual(4);
    }
  });
});

describe('2 · a turn parks only when its open steps are recorded', () => {
  test('a model that still speaks when its tool asks is on record before the question is put', async () => {
    const amounts: number[] = [];
    let modelCalls = 0;
    const world = await opened(async (turn, { clock }) => {
      let hear: (amount: number) => void = () => {};
      const heard = new Promise<number>((resolve) => {
        hear = resolve;
      });
      const tool = heard.then(async (amount) => {
        await turn.ask(`Refund ${amount}?`);
        await turn.step('charge', () => void amounts.push(amount));
      });
      const said = await turn.step('model', async () => {
        modelCalls += 1;
        const amount = modelCalls === 1 ? 10 : 9_999;
        hear(amount);
        await clock.sleep(60_000, new AbortController().signal);
        return { amount };
      });
      hear(said.amount);
      await tool;
    });
    await world.send('refund');
    await world.advance('30s');
    expect(await world.state()).toBe('working');
    await world.advance('30s');
    expect(await world.state()).toBe('input-required');
    expect((await world.journal()).get('step:model')).toBe('done');
    await world.answer('yes');
    expect([modelCalls, amounts]).toEqual([1, [10]]);
  });
});

describe('2b · a charge beside a question is paid for once', () => {
  test('however long it takes', async () => {
    let paid = 0;
    const world = await opened((turn, { clock }) =>
      Promise.all([
        turn.step('charge', async () => {
          await clock.sleep(50, new AbortController().signal);
          paid += 1;
        }),
        turn.ask('Mail the customer?'),
      ]),
    );
    await world.send('x');
    await world.advance(80);
    await world.answer('yes');
    expect(paid).toBe(1);
    expect((await world.view()).turn.attempts).toBe(2);
  });
});

describe('4 · code that changed while its task waited', () => {
  const versions = {
    same: ['fetch', 'charge', 'ask', 'ship'],
    added: ['check stock', 'fetch', 'charge', 'ask', 'label', 'ship'],
    reordered: ['charge', 'fetch', 'ask', 'ship'],
    renamed: ['fetch', 'charge card', 'ask', 'ship'],
  };
  test.each<[keyof typeof versions, string[]]>([
    ['same', ['ship']],
    ['added', ['check stock', 'label', 'ship']],
    ['reordered', ['ship']],
    ['renamed', ['charge card', 'ship']],
  ])('%s steps: after the answer only these run', async (version, expected) => {
    let steps = versions.same;
    const calls: string[] = [];
    const world = await opened(async (turn) => {
      for (const name of steps) {
        if (name === 'ask') await turn.ask('Ship?');
        else await turn.step(name, () => void calls.push(name));
      }
    });
    await world.send('x');
    calls.length = 0;
    steps = versions[version];
    await world.answer('yes');
    expect(calls).toEqual(expected);
    expect(await world.state()).toBe('completed');
  });
});

describe('6 · a graph with interrupts behind the turn', () => {
  test('its nodes run once, whatever dies', async () => {
    const checkpoints = new Map<string, string>();
    let planned = 0;
    const invoke = async (threadId: string, resume?: string) => {
      if (resume !== undefined) return { out: `${checkpoints.get(threadId)} → ${resume}` };
      planned += 1;
      checkpoints.set(threadId, 'hello!');
      return { interrupt: 'Send "hello!"?' };
    };
    const world = await opened(async (turn) => {
      let result = await turn.step('graph', () => invoke(turn.session.threadId));
      while (result.interrupt !== undefined) {
        const answer = await turn.ask(result.interrupt);
        result = (await turn.step('graph', () => invoke(turn.session.threadId, answer))) as typeof result;
      }
      return (result as unknown as { readonly out: string }).out;
    });
    await world.send('hello');
    await world.reply('yes');
    await world.claim();
    await world.crash();
    await world.work();
    expect(await world.artifactText('result')).toBe('hello! → yes');
    expect(planned).toBe(1);
  });
});

describe('7 · an executor with an event bus behind the turn', () => {
  test('hears of a cancel, and what it publishes then is not written', async () => {
    const canceled: string[] = [];
    const world = await opened(async (turn) => {
      const bus = new EventTarget();
      const artifact = turn.artifact('r');
      const finished = new Promise<void>((resolve) => bus.addEventListener('finished', () => resolve()));
      bus.addEventListener('chunk', (event) => void artifact.append((event as CustomEvent<string>).detail));
      const publish = (text: string): boolean => bus.dispatchEvent(new CustomEvent('chunk', { detail: text }));
      turn.signal.addEventListener('abort', () => {
        canceled.push('yes');
        publish('after the cancel');
        bus.dispatchEvent(new Event('finished'));
      });
      for (const word of ['one ', 'two ', 'three']) publish(word);
      await finished;
    });
    await world.send('hi');
    expect(await world.artifactText('r')).toBe('one two three');
    await world.cancel();
    await world.settleDown();
    expect([await world.state(), canceled]).toEqual(['canceled', ['yes']]);
    expect(await world.artifactText('r')).toBe('one two three');
  });
});

describe('8 · a stream that is cut by a death', () => {
  const forecasts: string[] = [];
  async function go(second: readonly string[], number: number) {
    forecasts.length = 0;
    let finals = 0;
    const world = await opened(async (turn) => {
      const model: Model = async (said) => (said.length === 0 ? { tool: 'forecast', args: { city: 'Oslo' } } : []);
      const forecast = ({ city }: { readonly city: string }): Promise<string> =>
        turn.step(`forecast ${city}`, () => {
          forecasts.push(city);
          return 'rain';
        });
      for await (const _ of agentLoop(durable(turn, model), { forecast })) throw new Error('no words yet');
      finals += 1;
      const words = finals === 1 ? ['It ', 'rains ', 'in ', 'Oslo'] : second;
      const answer = turn.artifact('answer');
      for (const word of words) {
        await answer.append(word);
        await answer.flush();
      }
      await answer.close();
    }, dieAt(number));
    await world.send('weather in Oslo?');
    const replaces = (await world.events()).filter((event) => event.kind === 'artifact-updated' && !event.append);
    return { text: await world.artifactText('answer'), replaces: replaces.length, state: await world.state() };
  }

  test('says the same again: nothing is written twice, nothing is replaced', async () => {
    for (let number = 1; number <= 11; number += 1) {
      expect(await go(['It ', 'rains ', 'in ', 'Oslo'], number), `call ${number}`).toEqual({
        text: 'It rains in Oslo',
        replaces: 1,
        state: 'completed',
      });
      expect(new Set(forecasts).size).toBe(1);
    }
  });

  test('says something else: one explicit replace, at most', async () => {
    for (let number = 5; number <= 9; number += 1) {
      const { text, replaces, state } = await go(['It ', 'is ', 'wet'], number);
      expect(['It is wet', 'It rains in Oslo'], `call ${number}`).toContain(text);
      expect(replaces).toBeLessThanOrEqual(2);
      expect(state).toBe('completed');
    }
  });
});
