import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import demo from '../../agents/demo.ts';
import notebook from '../../agents/notebook.ts';
import { field, json, lines, runCommand } from '../testing/command-run.ts';
import { type ServerWorld, startWorld } from '../testing/server-world.ts';

let world: ServerWorld;
let folder: string;
beforeAll(async () => {
  world = await startWorld({ agents: [demo, notebook] });
  folder = await mkdtemp(path.join(os.tmpdir(), 'holdfast-cli-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

const run = (args: readonly string[]) => runCommand({ url: world.url, folder }, args);
async function begin(text: string): Promise<string> {
  return field(await run(['send', text]), 'Task ID');
}

describe('task', () => {
  test('get shows a task, with as much history as asked for, and --wait waits', async () => {
    const id = await begin('hello');
    expect(json(await run(['task', 'get', id, '-o', 'json', '--history', '0'])).history).toBeUndefined();
    expect(json(await run(['task', 'get', id, '-o', 'json', '--history', '1'])).history.length).toBe(1);
    const later = field(await run(['send', 'wait 0.3s', '--async']), 'Task ID');
    const waited = await run(['task', 'get', later, '--wait', '--poll-interval', '100ms']);
    expect(field(waited, 'State')).toBe('COMPLETED');
  });

  test('list pages, filters and counts', async () => {
    const { contextId } = json(await run(['send', 'hello', '-o', 'json'])).task;
    await run(['send', 'reject', '--context-id', contextId]);
    const page = json(await run(['task', 'list', '--context-id', contextId, '--page-size', '1', '-o', 'json']));
    expect([page.tasks.length, page.totalSize]).toEqual([1, 2]);
    const rejected = await run([
      'task',
      'list',
      '--context-id',
      contextId,
      '--state',
      'rejected',
      '-o',
      'json',
      '--stream',
    ]);
    expect(lines(rejected).map((task) => task.status.state)).toEqual(['TASK_STATE_REJECTED']);
    const text = await run(['task', 'list', '--context-id', contextId, '--page-size', '1']);
    expect(field(text, 'Total')).toBe('2');
    const list = await run(['task', 'list', '--context-id', contextId]);
    const both = json(await run(['task', 'list', '--context-id', contextId, '-o', 'json']));
    const [newest, oldest] = both.tasks;
    expect(list.out.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(
        new RegExp(`^Task: ${newest.id}  REJECTED  2\\S+Z  context ${contextId}  I would rather not\\. .*…$`),
      ),
      expect.stringMatching(new RegExp(`^Task: ${oldest.id}  COMPLETED  2\\S+Z  context ${contextId}$`)),
    ]);
    expect((await run(['task', 'list', '--context-id', contextId, '--verbose'])).out).toContain(
      `Task ID: ${newest.id}\n`,
    );
    expect(field(text, 'Next page')).toMatch(/^holdfast task list --page-token \S+ -a http/);
  });

  test('cancel reports the resulting state; once more it is not cancelable', async () => {
    const id = await begin('book a table');
    expect(field(await run(['task', 'cancel', id]), 'State')).toBe('CANCELED');
    const again = await run(['task', 'cancel', id, '-o', 'json']);
    expect([again.code, json(again).error.code, json(again).error.a2aCode]).toEqual([
      1,
      'TaskNotCancelableError',
      -32002,
    ]);
  });

  test('subscribe follows to the end; without --stream -o json is the terminal task', async () => {
    const stream = async () => field(await run(['send', 'write about eels', '--async']), 'Task ID');
    const followed = lines(await run(['task', 'subscribe', await stream(), '--stream', '-o', 'json']));
    expect(followed[0].task.id).toBeDefined();
    expect(followed.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
    expect(json(await run(['task', 'subscribe', await stream(), '-o', 'json'])).status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
    const text = await run(['task', 'subscribe', await stream()]);
    expect(text.out).toMatch(/State: COMPLETED\n$/);
  });

  test('download saves what the artifacts hold, and writes over nothing', async () => {
    await writeFile(path.join(folder, 'b.bin'), Uint8Array.of(0, 255, 1));
    const id = field(await run(['send', '--file', 'b.bin', '--file', 'https://x.example/far.pdf']), 'Task ID');
    const ran = await run(['task', 'download', id, '--dir', 'saved']);
    expect(await readdir(path.join(folder, 'saved'))).toEqual(['b.bin']);
    expect(await readFile(path.join(folder, 'saved', 'b.bin'))).toEqual(Buffer.from([0, 255, 1]));
    expect(field(ran, 'Not fetched')).toBe('https://x.example/far.pdf');
    const again = await run(['task', 'download', id, '--dir', 'saved']);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('is there already')]);
    expect((await run(['task', 'download', id, '--dir', 'saved', '--force'])).code).toBe(0);
  });

  test("an unknown task is the server's error, over both bindings", async () => {
    for (const transport of ['JSONRPC', 'rest']) {
      const ran = await run(['task', 'get', 'nope', '--transport', transport, '-o', 'json']);
      expect([ran.code, ran.err, json(ran).error.code]).toEqual([1, '', 'TaskNotFoundError']);
    }
  });

  test("push-config answers the server's error", async () => {
    const id = await begin('hello');
    for (const words of [
      ['create', id, '--url', 'https://x.example'],
      ['get', id, 'c'],
      ['list', id],
      ['delete', id, 'c'],
    ]) {
      const ran = await run(['task', 'push-config', ...words, '-o', 'json']);
      expect([ran.code, json(ran).error.code]).toEqual([1, 'PushNotificationNotSupportedError']);
    }
  });
});
