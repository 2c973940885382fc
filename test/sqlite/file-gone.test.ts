import { copyFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clientMessage, doorAgent } from '../../src/testing/door-agent.ts';
import { call } from '../../src/testing/door-calls.ts';
import { startWorld } from '../../src/testing/server-world.ts';
import { testFolder } from './folder.ts';

const copied = (path: string): void => {
  copyFileSync(path, `${path}-copy`);
  renameSync(`${path}-copy`, path);
};

/** A name that leads back to itself: to look at it is an error, and not the answer that nothing is there. */
const unreadable = (path: string): void => {
  rmSync(path);
  symlinkSync(path, path);
};

test.each([
  ['deleted', (path: string) => rmSync(path), 'was deleted or moved under'],
  ['replaced', copied, 'was replaced by another under'],
  ['made unreadable', unreadable, 'was deleted or moved under'],
  ['moved away', (path: string) => renameSync(path, `${path}-away`), 'was deleted or moved under'],
])('a database file that was %s under a server takes nothing more, and says so once', async (_how, spoil, text) => {
  const path = join(await testFolder(), 'data.db');
  const world = await startWorld({ agents: [doorAgent()], store: `sqlite:${path}` });
  const send = () => call(world, '/a2a/v1/message:send', { body: { message: clientMessage() } });
  const ready = async () => (await call(world, '/readyz')).status;
  expect([(await send()).status, await ready()]).toEqual([200, 200]);
  spoil(path);
  for (let count = 0; count < 3; count += 1) {
    const refused = await send();
    expect([refused.status, refused.json.error.details[0].reason]).toEqual([503, 'UNAVAILABLE']);
    expect(await ready()).toBe(503);
  }
  expect(world.logLines().filter(({ msg }) => msg.includes(text))).toMatchObject([{ level: 'error', path }]);
  if (_how === 'moved away') {
    renameSync(`${path}-away`, path);
    expect([(await send()).status, await ready()]).toEqual([200, 200]);
  }
  await world.close();
});
