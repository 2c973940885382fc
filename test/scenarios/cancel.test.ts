import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { verifies } from '../requirements.ts';
import { doorMakers, okOf, readAll, refusalOf } from './door.ts';
import { nativeDoor } from './native-door.ts';
import { Gates, scenarioAgent } from './scenario-agent.ts';

describe.each(doorMakers)('%o', (makeDoor) => {
  const gates = new Gates();
  let world: ServerWorld;
  beforeAll(async () => {
    world = await startWorld({ agents: [scenarioAgent(gates)] });
  });
  afterAll(() => world.close());

  test(`20 cancels at once are one ${verifies('cancel.idempotent', 'cancel.canceled', 'cancel.not-cancelable')}`, async () => {
    const door = makeDoor({ url: world.url });
    const gate = `cancels-${door.name}`;
    const { id } = okOf(
      await door.send({ skill: 'hold', text: gate, configuration: { returnImmediately: true } }),
    ).task;
    await gates.arrival(gate);
    const watching = door.subscribe(id).then(readAll);
    const answers = await Promise.all(Array.from({ length: 20 }, () => door.cancel(id)));
    // One that came when the task had ended already is told so.
    for (const answer of answers) {
      if (answer.ok) expect(answer.value.status.state).toBe('TASK_STATE_CANCELED');
      else expect(answer.reason).toBe('TASK_NOT_CANCELABLE');
    }
    expect(answers[0]?.ok).toBe(true);
    const log = await nativeDoor({ url: world.url }).follow(id);
    expect(log.filter((frame) => frame.event === 'cancel-requested')).toHaveLength(1);
    expect(log.filter((frame) => frame.value.state === 'TASK_STATE_CANCELED')).toHaveLength(1);
    expect((await watching).at(-1).statusUpdate.status.state).toBe('TASK_STATE_CANCELED');
    expect(refusalOf(await door.cancel(id)).reason).toBe('TASK_NOT_CANCELABLE');
  });
});
