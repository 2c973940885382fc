import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../agent/define-agent.ts';
import type { TaskTurn } from '../agent/turn.ts';
import { instant } from '../base/clock.ts';
import { RunWorld } from '../testing/run-world.ts';

type Run = (turn: TaskTurn<string>, world: RunWorld) => unknown;

async function begun(run: Run): Promise<RunWorld> {
  const call = (turn: TaskTurn<string>): unknown => run(turn, world);
  const world: RunWorld = await RunWorld.open({
    agent: defineAgent({ name: 'tester', description: 'd', run: call as never }),
  });
  await world.send('hello');
  return world;
}

const never = new AbortController().signal;

async function question(world: RunWorld) {
  const { content, task } = await world.snapshot();
  return { state: task.state, parts: content.statusMessage?.parts };
}

describe('ask', () => {
  test('parks the task in INPUT_REQUIRED and goes on with the answer', async () => {
    const world = await begun(async (turn) => `got ${await turn.ask('Which one?', { timeout: '1d' })}`);
    expect(await question(world)).toEqual({
      state: 'input-required',
      parts: [
        { kind: 'text', text: 'Which one?' },
        { kind: 'data', data: { askId: 'ask:Which one?', expiresAt: '2026-01-02T00:00:00.000Z' } },
      ],
    });
    expect(world.process.engine.freeSlots()).toBe(10);
    await world.answer('red');
    expect(await world.artifactText('result')).toBe('got red');
  });

  test('a schema is published flat, and the answer is what it makes of it', async () => {
    const schema = z.object({ count: z.coerce.number().int().positive(), note: z.string().default('none') });
    const world = await begun(async (turn) => JSON.stringify(await turn.ask('How many?', { schema })));
    expect((await question(world)).parts?.[1]).toMatchObject({
      data: { schema: { type: 'object', properties: { count: { exclusiveMinimum: 0 }, note: { default: 'none' } } } },
    });
    await world.answer([{ kind: 'data', data: { count: 3 } }]);
    expect(await world.artifactText('result')).toBe('{"count":3,"note":"none"}');
  });

  test('data without a schema is its JSON text', async () => {
    const world = await begun((turn) => turn.ask('What?'));
    await world.answer([{ kind: 'data', data: { a: [1] } }]);
    expect(await world.artifactText('result')).toBe('{"a":[1]}');
  });

  test('an answer that only the schema can judge is asked for again, with the reason', async () => {
    const schema = z.string().refine((text) => text.startsWith('A'), 'must start with A');
    const world = await begun((turn) => turn.ask('Order?', { schema }));
    const first = (await world.snapshot()).content.statusMessage?.messageId;
    await world.answer('B1');
    const again = await world.snapshot();
    expect(again.task.state).toBe('input-required');
    expect(again.content.statusMessage?.parts[0]).toEqual({
      kind: 'text',
      text: 'That answer does not fit: it must start with A. Order?',
    });
    expect(again.content.statusMessage?.messageId).not.toBe(first);
    await world.answer('B2');
    await world.answer('A2');
    expect(await world.artifactText('result')).toBe('A2');
    const ids = (await world.snapshot()).content.history.map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('text is offered as JSON where the schema wants more than text and says nothing of it', async () => {
    const schema: z.ZodType<number> = z.any().refine((value) => typeof value === 'number', 'must be a number');
    const world = await begun(async (turn) => String((await turn.ask('N?', { schema })) + 1));
    await world.answer('41');
    expect(await world.artifactText('result')).toBe('42');
  });

  test('expires, and declines', async () => {
    const run: Run = async (turn) => {
      try {
        return await turn.ask('Well?', { timeout: '1h' });
      } catch (error) {
        return (error as Error).name;
      }
    };
    const expired = await begun(run);
    await expired.advance('1h');
    expect(await expired.artifactText('result')).toBe('Expired');
    const declined = await begun(run);
    await declined.answer([{ kind: 'data', data: { askId: 'ask:Well?', action: 'decline' } }]);
    expect(await declined.artifactText('result')).toBe('Declined');
  });

  test('an Expired that nobody catches fails the task with words for the client', async () => {
    const world = await begun((turn) => turn.ask('Well?', { timeout: '1h' }));
    await world.advance('1h');
    const { content, task } = await world.snapshot();
    expect(task.state).toBe('failed');
    expect(content.statusMessage?.parts).toEqual([{ kind: 'text', text: 'Nobody answered in time: Well?' }]);
  });

  test('the same question twice is two questions', async () => {
    const world = await begun(async (turn) => [await turn.ask('More?'), await turn.ask('More?')].join());
    await world.answer('a');
    expect((await question(world)).parts?.[1]).toEqual({ kind: 'data', data: { askId: 'ask:More?#2' } });
    await world.answer('b');
    expect(await world.artifactText('result')).toBe('a,b');
  });

  test('two at once: each is answered by its id', async () => {
    const world = await begun(async (turn) => (await Promise.all([turn.ask('A?'), turn.ask('B?')])).join());
    expect((await question(world)).parts?.[0]).toMatchObject({ text: 'A?' });
    await world.answer([{ kind: 'data', data: { askId: 'ask:B?', content: 'b' } }]);
    expect((await question(world)).parts?.[0]).toMatchObject({ text: 'A?' });
    await world.answer('a');
    expect(await world.artifactText('result')).toBe('a,b');
  });

  test('a page of a question has a short key', async () => {
    const text = `${'x'.repeat(5_000)}?`;
    const world = await begun((turn) => turn.ask(text));
    expect([...(await world.journal()).keys()][0]?.length).toBeLessThan(170);
    await world.answer('fine');
    expect(await world.artifactText('result')).toBe('fine');
  });
});

describe('authorize', () => {
  test('waits in AUTH_REQUIRED until a message clears it', async () => {
    const world = await begun(async (turn) => {
      await turn.authorize({ scheme: 'github', url: 'https://example.com/login' });
      return 'in';
    });
    expect(await question(world)).toEqual({
      state: 'auth-required',
      parts: [
        { kind: 'text', text: 'Sign in to go on: github https://example.com/login' },
        { kind: 'data', data: { askId: 'authorize:github', scheme: 'github', url: 'https://example.com/login' } },
      ],
    });
    await world.answer('done');
    expect(await world.artifactText('result')).toBe('in');
  });

  test('a question beside it wins', async () => {
    const world = await begun((turn) => Promise.all([turn.authorize({ scheme: 's' }), turn.ask('Q?')]));
    expect((await question(world)).state).toBe('input-required');
  });
});

describe('sleep', () => {
  test('a long one holds nothing; its time is fixed once', async () => {
    let runs = 0;
    const world = await begun(async (turn) => {
      runs += 1;
      await turn.sleep('1h');
      return 'woke';
    });
    expect(await world.state()).toBe('working');
    expect((await world.view()).run?.state).toBe('waiting');
    await world.advance('59m');
    expect(runs).toBe(1);
    await world.advance('1m');
    expect(await world.artifactText('result')).toBe('woke');
  });

  test('a short one stays in place and is recorded', async () => {
    let runs = 0;
    const world = await begun(async (turn) => {
      runs += 1;
      await turn.sleep('4s');
      await turn.step('after', () => undefined);
      return 'woke';
    });
    expect((await world.view()).run?.state).toBe('leased');
    await world.advance('4s');
    expect(runs).toBe(1);
    expect((await world.journal()).get('sleep:4s')).toBe('done');
  });

  test('one of five seconds parks, however fast the clock goes', async () => {
    const world = await begun(async (turn, { clock }) => {
      const from = clock.now();
      let reads = 0;
      vi.spyOn(clock, 'now').mockImplementation(() => instant(from + reads++));
      await turn.sleep('5s');
      return 'woke';
    });
    expect((await world.view()).run?.state).toBe('waiting');
  });

  test('a Date in the past is over at once', async () => {
    const world = await begun(async (turn) => {
      await turn.sleep(new Date(0));
      return 'woke';
    });
    expect(await world.artifactText('result')).toBe('woke');
  });

  test('beside a question it wakes the turn, and the question stays open', async () => {
    const world = await begun((turn) =>
      Promise.race([
        turn.ask('Now?'),
        turn.sleep('1h').then(() => turn.status('still waiting').then(() => turn.ask('Now then?'))),
      ]),
    );
    await world.advance('1h');
    expect(await world.state()).toBe('input-required');
    const { content } = await world.snapshot();
    expect(content.history.map(({ parts }) => parts[0])).toContainEqual({ kind: 'text', text: 'still waiting' });
    await world.answer([{ kind: 'data', data: { askId: 'ask:Now then?', content: 'yes' } }]);
    expect(await world.artifactText('result')).toBe('yes');
  });

  test('an answer that comes first leaves the sleep where it was', async () => {
    const world = await begun(async (turn) => (await Promise.all([turn.ask('Now?'), turn.sleep('1h')]))[0]);
    await world.advance('30m');
    await world.answer('yes');
    expect((await world.view()).run?.state).toBe('waiting');
    await world.advance('30m');
    expect(await world.artifactText('result')).toBe('yes');
    expect((await world.events()).filter(({ kind }) => kind === 'timer-set')).toHaveLength(1);
  });
});

describe('when a turn parks', () => {
  test('only when its open steps are recorded: nothing is paid for twice', async () => {
    let paid = 0;
    const world = await begun(async (turn, { clock }) => {
      const charge = turn.step('charge', async () => {
        await clock.sleep(600_000, never);
        paid += 1;
        return 'paid';
      });
      return (await Promise.all([charge, turn.ask('Mail it?')])).join();
    });
    expect(await world.state()).toBe('working');
    await world.advance('10m');
    expect(await world.state()).toBe('input-required');
    await world.answer('yes');
    expect(await world.artifactText('result')).toBe('paid,yes');
    expect(paid).toBe(1);
  });

  test('not while a short sleep is under way', async () => {
    const world = await begun((turn) => Promise.race([turn.ask('Now?'), turn.sleep('2s').then(() => 'slept')]));
    await world.advance('2s');
    expect(await world.artifactText('result')).toBe('slept');
  });

  test('a handler that goes on after its steps may still finish', async () => {
    const world = await begun((turn) => Promise.race([turn.ask('Now?'), turn.step('quick', async () => 'done')]));
    expect(await world.state()).toBe('completed');
    expect(await world.artifactText('result')).toBe('done');
    expect((await world.events()).some(({ kind }) => kind === 'question-asked')).toBe(false);
  });

  test('a pipe whose source waits for the answer does not keep it', async () => {
    const world = await begun(async (turn) => {
      async function* words(): AsyncGenerator<string> {
        yield 'Refund? ';
        yield await turn.ask('Sure?');
      }
      await turn.pipe('answer', words());
    });
    expect(await world.state()).toBe('input-required');
    expect(await world.artifactText('answer')).toBe('Refund? ');
    await world.answer('yes');
    expect(await world.artifactText('answer')).toBe('Refund? yes');
  });

  test('what a parked handler still does is not written', async () => {
    let wasInert = true;
    const world = await begun(async (turn) => {
      turn.signal.addEventListener('abort', () => {
        turn.status('aborted').then(() => {
          wasInert = false;
        });
        turn.artifact('late').append('late');
      });
      return await turn.ask('Q?');
    });
    await world.settleDown();
    expect(wasInert).toBe(true);
    await world.answer('a');
    expect(JSON.stringify(await world.events())).not.toMatch(/aborted|late/);
  });
});

describe('a suspension inside a step', () => {
  const sentence =
    'turn.ask was called inside step "pay". A step must finish by itself: ask first, then call the step.';

  async function refusal(inside: (turn: TaskTurn<string>) => unknown): Promise<unknown> {
    const caught: unknown[] = [];
    const world = await begun(async (turn) => {
      await turn.step('pay', () => inside(turn)).catch((error: unknown) => caught.push(error));
    });
    expect(await world.state()).toBe('completed');
    return caught[0];
  }

  test.each<[string, (turn: TaskTurn<string>) => unknown]>([
    ['at once', (turn) => turn.ask('Sure?')],
    [
      'after an await',
      async (turn) => {
        await Promise.resolve();
        return turn.ask('Sure?');
      },
    ],
    ['in a then', (turn) => Promise.resolve().then(() => turn.ask('Sure?'))],
    ['among others', async (turn) => await Promise.all([Promise.resolve(), (async () => await turn.ask('Sure?'))()])],
  ])('is refused by name: %s', async (_name, inside) => {
    expect(await refusal(inside)).toMatchObject({ name: 'AgentCodeError', page: 'ask-in-step', message: sentence });
  });

  test('sleep too, in its own words', async () => {
    const text =
      'turn.sleep was called inside step "pay". A step must finish by itself: sleep first, then call the step.';
    expect(await refusal((turn) => turn.sleep('1h'))).toMatchObject({ message: text });
  });

  test('beside a step it is fine', async () => {
    const world = await begun(async (turn) => {
      const step = turn.step('pay', async () => 'paid');
      return (await Promise.all([step, turn.ask('Sure?')])).join();
    });
    await world.answer('yes');
    expect(await world.artifactText('result')).toBe('paid,yes');
  });

  test('where nothing tells who called, the log names what may wait for itself, and the idle deadline ends it', async () => {
    const world = await begun(async (turn) => {
      const events = new EventTarget();
      events.addEventListener('go', () => turn.ask('Sure?').then((answer) => resolve(answer)));
      let resolve: (answer: string) => void = () => {};
      queueMicrotask(() => events.dispatchEvent(new Event('go')));
      await turn.step('pay', () => new Promise<string>((settle) => (resolve = settle)));
    });
    await world.advance('29s');
    expect(world.logged.some(({ message }) => message.includes('waits for open steps'))).toBe(false);
    await world.advance('1s');
    expect(world.logged.find(({ message }) => message.includes('waits for open steps'))?.fields).toMatchObject({
      suspensions: ['ask:Sure?'],
      steps: ['pay'],
    });
    expect((await world.view()).task.deadline?.kind).toBe('idle');
  });
});
