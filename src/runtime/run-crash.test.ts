import { describe, expect, test } from 'vitest';
import { defineAgent } from '../agent/define-agent.ts';
import type { Agent } from '../agent/definition.ts';
import type { TaskTurn } from '../agent/turn.ts';
import { RunWorld } from '../testing/run-world.ts';
import type { Fate, Intercept } from '../testing/store-handle.ts';

/** What the outside world saw of a turn's steps: each call with its idempotency key, and whether its result was on record then. */
class Ledger {
  readonly calls: { readonly step: string; readonly key: string; readonly wasRecorded: boolean }[] = [];
  world: RunWorld | undefined;

  async call(step: string, key: string): Promise<string> {
    const turn = await this.world?.journal();
    this.calls.push({ step, key, wasRecorded: turn?.get(`step:${step}`) === 'done' });
    return `${step} done`;
  }

  /** Effects as a service sees them that honours idempotency keys. */
  get effects(): string[] {
    return [...new Map(this.calls.map(({ step, key }) => [key, step])).values()];
  }
}

const WORDS = ['It ', 'rains ', 'in ', 'Oslo', '.'];

/** Three steps, a question, an hour's sleep and a streamed artifact. */
function longAgent(ledger: Ledger): Agent {
  const step = (turn: TaskTurn<string>, name: string): Promise<string> =>
    turn.step(name, ({ idempotencyKey }) => ledger.call(name, idempotencyKey));
  return defineAgent({
    name: 'tester',
    description: 'd',
    policy: { crashesMax: 100 },
    async run(turn) {
      await turn.status('begins');
      const found = await step(turn, 'search');
      const [read] = await Promise.all([step(turn, 'read'), turn.status('reads')]);
      const answer = await turn.ask('Ship it?');
      const report = turn.artifact('report', { mediaType: 'text/markdown' });
      for (const word of WORDS) {
        await report.append(word);
        await report.flush();
      }
      await turn.sleep('1h');
      await turn.status('ships');
      const shipped = await step(turn, 'ship');
      await report.append(` ${answer}`, { last: true });
      return [found, read, shipped].join(', ');
    },
  });
}

/** Everything of the log that a client sees, without where chunks were cut. */
async function visible(world: RunWorld) {
  const { content, task } = await world.snapshot();
  const statuses = (await world.events()).flatMap((event) =>
    event.kind === 'status-changed' ? [`${event.state}: ${words(event.message?.parts)}`] : [],
  );
  const artifacts = content.artifacts.map((artifact) => ({
    id: artifact.artifactId,
    name: artifact.header.name,
    text: words(artifact.parts),
    isClosed: artifact.closedSeq !== undefined,
  }));
  const replaces = (await world.events()).filter((event) => event.kind === 'artifact-updated' && !event.append).length;
  const questions = (await world.events()).filter((event) => event.kind === 'question-asked').length;
  return { state: task.state, statuses, artifacts, replaces, questions };
}

function words(parts: readonly { readonly kind: string }[] = []): string {
  return parts.map((part) => ('text' in part ? part.text : part.kind)).join('');
}

async function play(intercept: Intercept, change?: (world: RunWorld, ledger: Ledger) => void) {
  const ledger = new Ledger();
  const world = await RunWorld.open({ agent: longAgent(ledger), intercept });
  ledger.world = world;
  await world.send('go');
  await passTime(world);
  if ((await world.state()) === 'input-required') {
    change?.(world, ledger);
    await world.answer('yes');
  }
  await passTime(world);
  await world.advance('1h');
  await passTime(world);
  return { world, ledger };
}

/** Long enough for the retries of a store that is away for a moment, and for whoever died. */
async function passTime(world: RunWorld): Promise<void> {
  for (let round = 0; round < 4; round += 1) await world.advance('10s');
}

function at(number: number, fate: Fate): Intercept {
  let seen = 0;
  return () => {
    seen += 1;
    return seen === number ? fate : 'pass';
  };
}

async function countCalls(): Promise<number> {
  let calls = 0;
  await play(() => {
    calls += 1;
    return 'pass';
  });
  return calls;
}

describe('a process that dies', () => {
  test.each(['die-before', 'die-after'] as const)('%s any of its store calls', async (fate) => {
    const clean = await play(() => 'pass');
    const expected = await visible(clean.world);
    expect(expected).toMatchObject({ state: 'completed', replaces: 2, questions: 1 });
    const calls = await countCalls();
    expect(calls).toBeGreaterThan(12);
    for (let number = 1; number <= calls; number += 1) {
      const { world, ledger } = await play(at(number, fate));
      expect(await visible(world), `${fate} call ${number}`).toEqual(expected);
      expect(ledger.effects, `${fate} call ${number}`).toEqual(['search', 'read', 'ship']);
      expect(ledger.calls.filter(({ wasRecorded }) => wasRecorded)).toEqual([]);
      expectWholeLog(world, await world.events());
    }
  });

  test('twice in a row, at any two calls', async () => {
    const expected = await visible((await play(() => 'pass')).world);
    const calls = await countCalls();
    for (let first = 1; first <= calls; first += 2) {
      for (const gap of [1, 2, 3]) {
        let seen = 0;
        const { world, ledger } = await play(() => {
          seen += 1;
          return seen === first || seen === first + gap ? 'die-after' : 'pass';
        });
        expect(await visible(world), `calls ${first} and ${first + gap}`).toEqual(expected);
        expect(ledger.effects).toEqual(['search', 'read', 'ship']);
      }
    }
  });
});

describe('a store that fails', () => {
  test.each(['fail', 'lose-answer'] as const)('%s once, at any call', async (fate) => {
    const expected = await visible((await play(() => 'pass')).world);
    const calls = await countCalls();
    for (let number = 1; number <= calls; number += 1) {
      const { world, ledger } = await play(at(number, fate));
      expect(await visible(world), `${fate} call ${number}`).toEqual(expected);
      expect(ledger.effects).toEqual(['search', 'read', 'ship']);
      expect(ledger.calls).toHaveLength(3);
    }
  });

  test.each(['fail', 'lose-answer'] as const)('%s from any call on, until its process is replaced', async (fate) => {
    const expected = await visible((await play(() => 'pass')).world);
    const calls = await countCalls();
    for (let number = 1; number <= calls; number += 1) {
      let seen = 0;
      let failing = 0;
      const { world, ledger } = await play(() => {
        seen += 1;
        if (seen < number || failing > 5) return 'pass';
        failing += 1;
        return failing > 5 ? 'die-before' : fate;
      });
      expect(await visible(world), `${fate} from call ${number}`).toEqual(expected);
      expect(ledger.effects).toEqual(['search', 'read', 'ship']);
      expect(ledger.calls.filter(({ wasRecorded }) => wasRecorded)).toEqual([]);
    }
  });
});

describe('a cancel', () => {
  test('right before any store call ends the task once, with nothing after it', async () => {
    const calls = await countCalls();
    for (let number = 1; number <= calls; number += 1) {
      let seen = 0;
      let asked: Promise<void> | undefined;
      const ledger = new Ledger();
      const world: RunWorld = await RunWorld.open({
        agent: longAgent(ledger),
        intercept: () => {
          seen += 1;
          if (seen === number) asked = world.cancel();
          return 'pass';
        },
      });
      ledger.world = world;
      await world.send('go');
      await passTime(world);
      if ((await world.state()) === 'input-required') await world.answer('yes');
      await passTime(world);
      await world.advance('1h');
      await passTime(world);
      await asked;
      const events = await world.events();
      const requested = events.some(({ kind }) => kind === 'cancel-requested');
      expect(await world.state(), `call ${number}`).toBe(requested ? 'canceled' : 'completed');
      expect(events.at(-1), `call ${number}`).toMatchObject({ kind: 'status-changed' });
      expect(events.filter((event) => event.kind === 'status-changed' && event.state === 'canceled').length).toBe(
        requested ? 1 : 0,
      );
      expect(world.process.engine.freeSlots()).toBe(10);
    }
  });
});

describe('an agent that was changed while its task waited', () => {
  const changes: Record<string, (turn: TaskTurn<string>, call: (name: string) => Promise<string>) => Promise<string>> =
    {
      added: async (turn, call) => {
        await call('check');
        await call('search');
        await call('read');
        await turn.ask('Ship it?');
        await call('label');
        return await call('ship');
      },
      reordered: async (turn, call) => {
        await call('read');
        await call('search');
        await turn.ask('Ship it?');
        return await call('ship');
      },
    };

  test.each(Object.entries(changes))('steps %s complete with nothing twice', async (_name, run) => {
    const { world, ledger } = await play(
      () => 'pass',
      (changed, made) => {
        const call = (turn: TaskTurn<string>) => (name: string) =>
          turn.step(name, ({ idempotencyKey }) => made.call(name, idempotencyKey));
        changed.agent = defineAgent({ name: 'tester', description: 'd', run: (turn) => run(turn, call(turn)) });
      },
    );
    expect(await world.state()).toBe('completed');
    const names = ledger.calls.map(({ step }) => step);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(['search', 'read', 'ship']));
  });
});

/** No hole, one terminal status, and it is the last event. */
function expectWholeLog(_world: RunWorld, events: Awaited<ReturnType<RunWorld['events']>>): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const terminal = events.filter((event) => event.kind === 'status-changed' && event.state === 'completed');
  expect(terminal).toEqual([events.at(-1)]);
}
