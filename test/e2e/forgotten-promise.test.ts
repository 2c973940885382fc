import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServerProcess, serveArgs, startServer } from '../support/server-process.ts';

const INDEX = path.resolve(import.meta.dirname, '../../src/index.ts');
const AGENT = `import { defineAgent } from '${INDEX}';
const causes = {
  error: () => new Error('forgotten'),
  odd: () => new Proxy({}, { get() { throw new Error('odd'); }, getPrototypeOf() { throw new Error('odd'); } }),
};
export default defineAgent({ name: 'forgetful', description: 'Awaits nothing.', async run(turn) {
  if (turn.text === 'listener') turn.signal.addEventListener('abort', () => { throw new Error('a listener'); });
  else Promise.reject(causes[turn.text]());
  await new Promise((resolve) => setTimeout(resolve, 20));
  return 'done';
} });`;

let folder: string;
let server: ServerProcess;
beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-forgotten-'));
  writeFileSync(path.join(folder, 'agent.ts'), AGENT);
  server = await startServer({ args: serveArgs(path.join(folder, 'agent.ts'), '--store', 'memory') });
});
afterEach(async () => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  ['error', 'a promise that nobody awaits has failed'],
  ['odd', 'a promise that nobody awaits has failed'],
  ['listener', 'something threw where nobody catches'],
])('what a handler forgot to catch ends neither its task nor the server: %s', async (text, line) => {
  const response = await fetch(`${server.url}/v1/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  });
  expect(await response.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  await expect.poll(() => server.output()).toContain(line);
  expect(await server.terminate()).toBe(0);
});
