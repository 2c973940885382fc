import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServerProcess, serveArgs, startServer } from '../support/server-process.ts';

const INDEX = path.resolve(import.meta.dirname, '../../src/index.ts');
/** Logs a line, then fails, which is logged too. */
const AGENT = `import { defineAgent } from '${INDEX}';
export default defineAgent({ name: 'loud', description: 'Logs.', run(turn) {
  turn.log.error('before the end');
  throw new Error('the end');
} });`;

let folder: string;
let server: ServerProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-lost-log-'));
  writeFileSync(path.join(folder, 'agent.ts'), AGENT);
});
afterEach(async () => {
  await server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** A device whose disk is always full. */
const FULL = '/dev/full';

test.each(['whose reader died', 'whose disk is full'])('a log %s costs the log and nothing else', async (what) => {
  const args = serveArgs(path.join(folder, 'agent.ts'), '--store', `sqlite:${path.join(folder, 'x.db')}`);
  server = await startServer({ args, ...(what === 'whose disk is full' ? { logFile: FULL } : {}) });
  server.closeLog();
  for (let count = 0; count < 3; count += 1) {
    const response = await fetch(`${server.url}/v1/tasks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'hello' }),
    });
    expect(await response.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_FAILED' } } });
  }
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect(await server.terminate()).toBe(0);
});
