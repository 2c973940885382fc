import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineAgent } from '../../src/agent/define-agent.ts';
import type { TaskTurn } from '../../src/agent/turn.ts';
import { startWorld } from '../../src/testing/server-world.ts';
import { verifies } from '../requirements.ts';
import { jsonRpcDoor, okOf, type Wire } from './door.ts';
import { nativeDoor } from './native-door.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-deploy-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The same agent as it is deployed at different times. */
function shop(
  run: (turn: TaskTurn<string>, step: (name: string) => Promise<string>) => Promise<string>,
  ran: string[],
) {
  return defineAgent({
    name: 'shop',
    description: 'Ships orders.',
    run: (turn) =>
      run(turn, (name) =>
        turn.step(name, () => {
          ran.push(name);
          return name;
        }),
      ),
  });
}

const deployed = {
  before: async (turn: TaskTurn<string>, step: (name: string) => Promise<string>) => {
    await step('fetch');
    await step('charge');
    await turn.ask('Ship?');
    await step('ship');
    return 'shipped';
  },
  'with steps added': async (turn: TaskTurn<string>, step: (name: string) => Promise<string>) => {
    await step('check stock');
    await step('fetch');
    await step('charge');
    await turn.ask('Ship?');
    await step('label');
    await step('ship');
    return 'shipped';
  },
  'with steps reordered': async (turn: TaskTurn<string>, step: (name: string) => Promise<string>) => {
    await step('charge');
    await step('fetch');
    await turn.ask('Ship?');
    await step('ship');
    return 'shipped';
  },
};

test.each([
  ['with steps added', ['fetch', 'charge', 'check stock', 'label', 'ship']],
  ['with steps reordered', ['fetch', 'charge', 'ship']],
] as const)(
  `a task that waits goes on in code %s, and nothing runs twice ${verifies('durable.steps-moved')}`,
  async (version, expected) => {
    const ran: string[] = [];
    const store = `sqlite:${path.join(folder, 'shop.db')}`;
    const first = await startWorld({ agents: [shop(deployed.before, ran)], store });
    const asked = okOf(await jsonRpcDoor({ url: first.url }).send({ text: 'order' })).task;
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await first.close();
    const second = await startWorld({ agents: [shop(deployed[version], ran)], store });
    try {
      const done = okOf(await jsonRpcDoor({ url: second.url }).send({ taskId: asked.id, text: 'yes' })).task;
      expect(done.status.state).toBe('TASK_STATE_COMPLETED');
      expect(ran).toEqual(expected);
      const { body } = await nativeDoor({ url: second.url }).get(`/v1/tasks/${asked.id}/runs`);
      expect(body.runs.map((run: Wire) => run.outcome)).toEqual(['parked', 'succeeded']);
    } finally {
      await second.close();
    }
  },
);
