import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import demo from '../../agents/demo.ts';
import notebook from '../../agents/notebook.ts';
import { field, json, lines, runCommand } from '../testing/command-run.ts';
import { type ServerWorld, startWorld } from '../testing/server-world.ts';
import type { Io } from './io.ts';

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

/** Runs a command line against the server of this file, in a folder of its own. */
const run = (args: readonly string[], more: Partial<Io> = {}) => runCommand({ url: world.url, folder }, args, more);

describe('send', () => {
  test('waits, and says ids, state and artifacts a field or a block each', async () => {
    const ran = await run(['send', 'I am Ada']);
    expect(ran.code).toBe(0);
    expect(ran.err).toBe('');
    expect(ran.out).toMatch(
      /^Task ID: [0-9a-f-]{36}\nContext ID: [0-9a-f-]{36}\nState: COMPLETED\nArtifact: result \([0-9a-f-]{36}\)\nText:\nPleased to meet you, Ada![^\n]*\n(.+\n)*\n$/,
    );
  });

  test('-o json is one document, a SendMessageResponse', async () => {
    const { task } = json(await run(['send', 'pay 3', '-o', 'json']));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(Object.keys(task)).toEqual(expect.arrayContaining(['id', 'contextId', 'artifacts']));
    const { message } = json(await run(['send', '--skill', 'ping', 'hi', '-o', 'json']));
    expect(message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'pong: hi' }] });
  });

  test('-o json --stream is a StreamResponse a line, the last one the end', async () => {
    const events = lines(await run(['send', 'write about eels', '-o', 'json', '--stream']));
    expect(Object.keys(events[0])).toEqual(['task']);
    expect(events.filter((event) => event.artifactUpdate !== undefined).length).toBe(7);
    expect(events.at(-1).statusUpdate).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    const reply = lines(await run(['send', '--skill', 'ping', 'hi', '-o', 'json', '--stream']));
    expect(reply.length).toBe(1);
    expect(reply[0].message.parts).toEqual([{ text: 'pong: hi' }]);
  });

  test('--stream as text names the artifact at each chunk and restates the place at the end', async () => {
    const { out } = await run(['send', 'write about eels', '--stream']);
    expect(out.match(/^Artifact: essay\.md \(/gm)?.length).toBe(7);
    expect(out).toMatch(/State: COMPLETED\nTask ID: .*\nContext ID: .*\nState: COMPLETED\n$/);
  });

  test('--async returns ids at once', async () => {
    for (const flag of ['--async', '--return-immediately', '--no-wait']) {
      const ran = await run(['send', 'wait 20s', flag, '-o', 'json']);
      expect(json(ran).task.status.state).toMatch(/SUBMITTED|WORKING/);
    }
  });

  test('stops at a question with the command that answers it, and --task-id goes on', async () => {
    const asked = await run(['send', 'book a table']);
    expect(asked.code).toBe(0);
    expect(asked.err).toBe('Warning: the task waits in INPUT_REQUIRED.\n');
    const taskId = field(asked, 'Task ID');
    expect(field(asked, 'Resume')).toBe(`holdfast send --task-id ${taskId} "<reply>" -a ${world.url}`);
    expect(asked.out).toMatch(/^Data:\n\{\n {2}"askId"/m);
    const answered = await run(['send', '--task-id', taskId, '--data', '{"people": 2}']);
    expect(field(answered, 'State')).toBe('COMPLETED');
    const again = await run(['send', '--task-id', taskId, '3', '-o', 'json']);
    expect([again.code, json(again).error.code]).toEqual([1, 'UnsupportedOperationError']);
  });

  test('commands that it prints name it as it was called', async () => {
    const asked = await run(['send', 'book a table'], { program: 'npx holdfast' });
    expect(field(asked, 'Resume')).toMatch(/^npx holdfast send --task-id /);
    const missing = await run(['task', 'get', 'nope'], { program: 'npx holdfast' });
    expect(missing.err).toContain('Hint: `npx holdfast task list` shows');
    const inJson = await run(['task', 'get', 'nope', '-o', 'json'], { program: 'node "a b/main.ts"' });
    expect(json(inJson).error.hint).toContain('`node "a b/main.ts" task list`');
  });

  test.each([
    ['reject', 'REJECTED'],
    ['fail', 'FAILED'],
  ])('%s exits 0: the outcome is the state, named in a warning', async (text, state) => {
    const ran = await run(['send', text]);
    expect([ran.code, field(ran, 'State'), ran.err]).toEqual([0, state, `Warning: the task ended ${state}.\n`]);
  });

  test('parts keep their order, and a media type belongs to the part before it', async () => {
    await writeFile(path.join(folder, 'tide.md'), '# Tide\n');
    await writeFile(path.join(folder, 'tide.json'), '{"height": 3}');
    const ran = await run([
      'send',
      '--file',
      'tide.md',
      '--text',
      'look',
      '--file',
      'tide.json',
      '--media-type',
      'application/x-tide',
      '--file',
      'https://x.example/b.pdf',
      '--data',
      'tide.json',
      '-o',
      'json',
    ]);
    expect(json(ran).task.history[0].parts).toEqual([
      { raw: Buffer.from('# Tide\n').toString('base64'), filename: 'tide.md', mediaType: 'text/markdown' },
      { text: 'look' },
      { raw: Buffer.from('{"height": 3}').toString('base64'), filename: 'tide.json', mediaType: 'application/x-tide' },
      { url: 'https://x.example/b.pdf', filename: 'b.pdf', mediaType: 'application/pdf' },
      { data: { height: 3 } },
    ]);
  });

  test('--data - reads stdin, --metadata and --context-id go along, --message-id repeats', async () => {
    const readStdin = async () => Buffer.from('{"from": 1}');
    const counted = await run(['send', '--skill', 'countdown', '--data', '-', '-o', 'json'], { readStdin });
    const { contextId, history } = json(counted).task;
    expect(history[0].metadata).toEqual({ skillId: 'countdown' });
    const said = [
      'send',
      'hello',
      '--context-id',
      contextId,
      '--metadata',
      '{"k":[1]}',
      '--message-id',
      'm-7',
      '-o',
      'json',
    ];
    const [first, second] = [json(await run(said)).task, json(await run(said)).task];
    expect(first.contextId).toBe(contextId);
    expect(first.history[0].metadata).toEqual({ k: [1] });
    expect(second.id).toBe(first.id);
  });

  test('--timeout gives up with exit 5 and says how to go on', async () => {
    const ran = await run(['send', 'wait 30s', '--timeout', '300ms', '-o', 'json']);
    expect(ran.code).toBe(5);
    const { code, hint } = json(ran).error;
    expect(code).toBe('A2ACLI_ERR_TIMEOUT');
    expect(hint).toMatch(/^holdfast task get --wait [0-9a-f-]{36} -a http/);
  });

  test('Ctrl-C ends with 130 and leaves the task id', async () => {
    const stop = new AbortController();
    const waiting = async () => (await world.store.stats()).runs.waiting;
    const before = await waiting();
    const running = run(['send', 'wait 30s'], { interrupted: stop.signal });
    await expect.poll(waiting).toBeGreaterThan(before);
    stop.abort(new Error('stopped'));
    const ran = await running;
    expect(ran.code).toBe(130);
    expect(ran.err).toMatch(/Task ID: [0-9a-f-]{36}\nholdfast task get --wait/);
  });
});

describe('card', () => {
  test('get shows it, as it came with -o json, and holds it against the schema', async () => {
    const shown = await run(['card', 'get', '--validate']);
    expect([shown.code, shown.err]).toEqual([0, 'The card is valid.\n']);
    expect(shown.out).toMatch(/^Name: demo\nDescription: .*\nVersion: /);
    expect(shown.out).toMatch(/^Interface: JSONRPC 1\.0 http/m);
    const raw = await (await fetch(`${world.url}/.well-known/agent-card.json`)).json();
    expect(json(await run(['card', 'get', '-o', 'json']))).toEqual(raw);
    expect(lines(await run(['card', 'get', '-o', 'json', '--stream']))).toEqual([raw]);
  });

  test('of another agent of the same server; its tenant goes with every request', async () => {
    const card = await run(['card', 'get', '-a', `${world.url}/agents/notebook`]);
    expect(field(card, 'Name')).toBe('notebook');
    for (const transport of ['JSONRPC', 'HTTP+JSON']) {
      const words = [
        'send',
        '--skill',
        'recall',
        'sea',
        '--transport',
        transport,
        '-a',
        `${world.url}/agents/notebook`,
      ];
      expect((await run(words)).out).toContain('Nothing is remembered about "sea".');
    }
  });

  test('extended is what the server says', async () => {
    const ran = await run(['card', 'get', '--extended', '-o', 'json']);
    expect([ran.code, json(ran).error.code]).toEqual([1, 'UnsupportedOperationError']);
  });
});

describe('failures of its own', () => {
  test.each<[string, readonly string[], number, string]>([
    ['an unknown command', ['sned', 'x'], 2, 'A2ACLI_ERR_USAGE'],
    ['an unknown flag', ['send', 'x', '--frobnicate'], 2, 'A2ACLI_ERR_USAGE'],
    ['nothing to send', ['send'], 2, 'A2ACLI_ERR_USAGE'],
    ['a media type without a part', ['send', '--media-type', 'text/plain'], 2, 'A2ACLI_ERR_USAGE'],
    ['two media types', ['send', '--text', 'x', '--media-type', 'a/b', '--media-type', 'a/b'], 2, 'A2ACLI_ERR_USAGE'],
    ['metadata that is no object', ['send', 'x', '--metadata', '[1]'], 2, 'A2ACLI_ERR_USAGE'],
    ['data that is no JSON', ['send', '--data', '{'], 2, 'A2ACLI_ERR_USAGE'],
    ['a file that is not there', ['send', '--file', 'nowhere.md'], 2, 'A2ACLI_ERR_USAGE'],
    ['a duration without sense', ['send', 'x', '--timeout', 'soon'], 2, 'A2ACLI_ERR_USAGE'],
    ['wait and async', ['send', 'x', '--wait', '--async'], 2, 'A2ACLI_ERR_USAGE'],
    ['an unknown state', ['task', 'list', '--state', 'done'], 2, 'A2ACLI_ERR_USAGE'],
    ['a missing task id', ['task', 'get'], 2, 'A2ACLI_ERR_USAGE'],
    ['nobody there', ['send', 'x', '-a', 'http://127.0.0.1:9'], 3, 'A2ACLI_ERR_UNREACHABLE'],
    ['a card that is not there', ['card', 'get', '-a', './none.json'], 3, 'A2ACLI_ERR_CARD_NOT_FOUND'],
  ])('%s', async (_name, words, exitCode, code) => {
    const asJson = await run([...words, '-o', 'json']);
    expect([asJson.code, json(asJson).error.code, asJson.err]).toEqual([exitCode, code, '']);
    expect(Object.keys(json(asJson).error)).toEqual(['code', 'message', 'hint', 'a2aCode']);
    const asText = await run(words);
    expect([asText.code, asText.out]).toEqual([exitCode, '']);
    expect(asText.err).toMatch(new RegExp(`^Error: .+\nCode: ${code}\n(Hint: .+\n)?$`));
  });

  test('credentials are missing, or wrong', async () => {
    const denied = (async (input: string | URL | Request) => {
      if (String(input).includes('.well-known')) return await fetch(input);
      return new Response('{}', { status: 401, headers: { 'content-type': 'application/json' } });
    }) as typeof fetch;
    const without = await run(['send', 'x', '-o', 'json'], { fetch: denied });
    expect([without.code, json(without).error.code]).toEqual([4, 'A2ACLI_ERR_CREDENTIALS_MISSING']);
    const wrong = await run(['send', 'x', '-o', 'json', '--bearer', 'b'], { fetch: denied });
    expect([wrong.code, json(wrong).error.code]).toEqual([4, 'A2ACLI_ERR_AUTH_FAILED']);
  });
});

describe('around the commands', () => {
  test('--debug shows what went over the wire and no credentials', async () => {
    const ran = await run(['send', 'hello', '--debug', '--bearer', 'sesame', '--svc-param', 'x-key:open']);
    expect(ran.err).toMatch(/debug: POST http\S+\/a2a\/jsonrpc → HTTP 200, \d+ ms/);
    expect(ran.err).toContain('"method":"SendStreamingMessage"');
    expect(ran.err).not.toMatch(/sesame|x-key:open/);
  });

  test('config show names each value with its source, and hides secrets', async () => {
    const env = { A2ACLI_AGENT_CARD: 'h.example', A2ACLI_BEARER: 'sesame' };
    const ran = await run(['config', 'show', '--timeout', '3s'], { env });
    expect(ran.out).toContain('agent-card: h.example (environment)\n');
    expect(ran.out).toContain('timeout: 3s (flag)\n');
    expect(ran.out).toContain('output: text (default)\n');
    expect(ran.out).toContain('bearer: [redacted] (environment)\n');
  });

  test.each([[['--version']], [['--help']], [['send', '--help']], [['help', 'task']], [[]]])(
    '%j exits 0 and prints',
    async (words) => {
      const ran = await run(words);
      expect([ran.code, ran.out.length > 3]).toEqual([0, true]);
    },
  );

  test('someone at a terminal sees that a long wait goes on; the line is gone in the end', async () => {
    const { err, out } = await run(['send', 'wait 1.5s'], { hasWatcher: true });
    expect(err).toMatch(/\r. Waiting/);
    expect(err).toMatch(/\r +\r$/);
    expect(out).not.toContain('\r');
  });
});
