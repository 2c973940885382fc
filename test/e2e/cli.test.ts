import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ServerProcess, startServer } from '../support/server-process.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const MAIN = path.join(ROOT, 'src/cli/main.ts');
const INDEX = path.join(ROOT, 'src/index.ts');

let folder: string;
let servers: ServerProcess[];
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-e2e-'));
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in a process of its own, in the folder of the test. */
function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...env } });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (err += chunk));
    child.once('close', (code) => resolve({ code, out, err }));
  });
}
const holdfast = (...words: readonly string[]) => run([MAIN, ...words]);

async function serve(...words: readonly string[]): Promise<ServerProcess> {
  const server = await startServer({
    args: [MAIN, 'serve', '--port', '0', ...words],
    cwd: folder,
    env: { HOLDFAST_LOG_LEVEL: 'warn' },
  });
  servers.push(server);
  return server;
}

function write(name: string, text: string): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text.replaceAll('@INDEX', INDEX));
  return name;
}
const SHOUT = `import { defineAgent } from '@INDEX';
export default defineAgent({ name: 'shout', description: 'Louder.', run: (turn) => turn.text.toUpperCase() });`;

describe('serve', () => {
  test('says first where it listens, then card, doors, data and access, and serves the demo', async () => {
    const server = await serve();
    expect(server.output()).toMatch(
      /^holdfast listening on (http:\/\/127\.0\.0\.1:\d+)\n {2}card {4}\1\/\.well-known\/agent-card\.json \(demo\)\n {2}doors .*\n {2}data {4}sqlite:data\/holdfast\.db\n {2}access .*only this machine may call\n$/,
    );
    const ran = await holdfast('send', 'I am Ada', '-a', server.url, '-o', 'json');
    expect([ran.code, ran.err]).toEqual([0, '']);
    expect(JSON.parse(ran.out).task.artifacts[0].parts[0].text).toContain('Ada');
    expect(readFileSync(path.join(folder, 'data/holdfast.db')).subarray(0, 6).toString()).toBe('SQLite');
  });

  test('serves agents from files, the first as the default one', async () => {
    const server = await serve('--store', 'memory', write('shout.ts', SHOUT), path.join(ROOT, 'agents/notebook.ts'));
    expect(server.output()).toContain('agent-card.json (shout)');
    expect((await holdfast('send', 'ahoy', '-a', server.url)).out).toContain('\nAHOY\n');
    const other = await holdfast('card', 'get', '-a', `${server.url}/agents/notebook`);
    expect(other.out).toMatch(/^Name: notebook\n/);
  });

  test('reads settings from a file, the environment and flags, the last ones winning', async () => {
    write('settings.yaml', 'store: memory\nlog_level: error\nruns:\n  lease_secs: 7\n');
    const server = await serve('--config', 'settings.yaml', '--public-url', 'https://agents.example/hf');
    expect(server.output()).toMatch(/^holdfast listening on http:\/\/127\.0\.0\.1:\d+\n/);
    expect(server.output()).toContain('  card    https://agents.example/hf/.well-known/agent-card.json (demo)\n');
    expect(server.output()).toContain('  data    memory');
  });

  test('drains on SIGTERM and ends with 0; a task that was at work goes on at the next start', async () => {
    const first = await serve();
    const id = /Task ID: (\S+)/.exec((await holdfast('send', 'wait 0.5s', '--async', '-a', first.url)).out)?.[1] ?? '';
    expect(await first.terminate()).toBe(0);
    expect(first.output()).toContain('holdfast stops on SIGTERM');
    const second = await serve();
    const done = await holdfast('task', 'get', id, '--wait', '--poll-interval', '200ms', '-a', second.url);
    expect(done.out).toContain('State: COMPLETED');
  });

  test('stops at once on the second signal', async () => {
    const bench = path.join(ROOT, 'agents/bench.ts');
    const server = await serve(bench, '--store', 'memory');
    await holdfast('send', 'bench hold=60000', '--async', '-a', server.url);
    const ended = server.terminate();
    await expect.poll(() => server.output(), { timeout: 20_000 }).toContain('holdfast stops on SIGTERM');
    process.kill(server.pid, 'SIGTERM');
    expect(await ended).toBe(130);
  });
});

describe('what keeps a server from starting is one line and exit 1', () => {
  const start = (...words: readonly string[]) => holdfast('serve', '--port', '0', '--store', 'memory', ...words);

  test.each<[string, string, string]>([
    [
      'no default export',
      'export const agent = 1;',
      'agent.ts has no default export. Holdfast expects `export default defineAgent({ … })`.',
    ],
    [
      'a default export of another kind',
      'export default 7;',
      'The default export of agent.ts is no agent. Holdfast expects `export default defineAgent({ … })`.',
    ],
    [
      'imports without extensions',
      "import './tools';\nexport default 1;",
      'agent.ts imports "./tools", which Node cannot find: Node runs TypeScript without resolving extensions.  → npm i -D tsx   (holdfast uses it when it is there)',
    ],
    [
      'a name that is none',
      "import { defineAgent } from '@INDEX';\nexport default defineAgent({ name: 'No!', description: 'x', run: () => '' });",
      'agent.ts: "No!" is no agent name: use 1 to 63 of a-z, 0-9 and "-", and not "tasks".  → docs/errors/agent-name.md',
    ],
    ['a file that throws', "throw new Error('no luck today');", 'agent.ts could not be loaded: no luck today'],
    ['syntax that Node does not run', 'enum A { b }\nexport default A;', '→ npm i -D tsx'],
    ['a syntax error', 'export default {', 'agent.ts has a syntax error: '],
  ])('%s', async (_name, text, line) => {
    write('tools.ts', 'export {};');
    const ran = await start(write('agent.ts', text));
    expect([ran.code, ran.out]).toEqual([1, '']);
    expect(ran.err.trimEnd().split('\n').length, ran.err).toBe(1);
    expect(ran.err).toContain(`holdfast: ${line.startsWith('→') ? '' : line}`);
    expect(ran.err).toContain(line);
  });

  test('an agent file that does not exist', async () => {
    const ran = await start('nowhere.ts');
    expect(ran).toEqual({ code: 1, out: '', err: 'holdfast: nowhere.ts does not exist.\n' });
  });

  test('an agent file in a package of CommonJS', async () => {
    write('package.json', '{ "type": "commonjs" }');
    const ran = await start(write('agent.ts', SHOUT));
    expect([ran.code, ran.out]).toEqual([1, '']);
    expect(ran.err).toContain(
      'holdfast: agent.ts is an ES module, and its package.json says "type": "commonjs".  → npm pkg set type=module\n',
    );
  });

  test('an agent file that imports holdfast where none is installed gets the one that serves it', async () => {
    const server = await serve('--store', 'memory', write('agent.ts', SHOUT.replace('@INDEX', 'holdfast')));
    expect((await holdfast('send', 'ahoy', '-a', server.url)).out).toContain('\nAHOY\n');
  });

  test("the project's own tsx loads what Node does not", async () => {
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(path.join(ROOT, 'node_modules/tsx'), path.join(folder, 'node_modules/tsx'));
    write('tools.ts', 'export enum Size { small = "ahoy" }');
    const agent = `import { Size } from './tools';\n${SHOUT.replace('turn.text.toUpperCase()', 'Size.small')}`;
    const server = await serve('--store', 'memory', write('agent.ts', agent));
    expect((await holdfast('send', 'x', '-a', server.url)).out).toContain('\nahoy\n');
  });

  test('a port that is taken', async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
    });
    const ran = await holdfast('serve', '--store', 'memory', '--port', String(port));
    await new Promise((resolve) => taken.close(resolve));
    expect(ran).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^holdfast: Port \d+ on 127\.0\.0\.1 is taken.*\n$/),
    });
  });

  test('a database that another process has', async () => {
    const server = await serve();
    const ran = await holdfast('serve', '--port', '0');
    expect([ran.code, ran.out]).toEqual([1, '']);
    expect(ran.err).toMatch(new RegExp(`^holdfast: .*holdfast\\.db is in use by process ${server.pid}.*\n$`));
    expect((await holdfast('send', '--skill', 'ping', 'still there?', '-a', server.url)).out).toContain('pong');
  });

  test('a schema that is newer, and one that is older with --no-migrate', async () => {
    await (await serve()).terminate();
    const database = new DatabaseSync(path.join(folder, 'data/holdfast.db'));
    database.exec("insert into schema_migration values (99, 'later', 'x', 99, 0)");
    database.close();
    const newer = await holdfast('serve', '--port', '0');
    expect([newer.code, newer.err]).toEqual([
      1,
      expect.stringMatching(/^holdfast: The database has schema 99.*newer version of Holdfast.*\n$/),
    ]);
    const fresh = await holdfast('serve', '--port', '0', '--store', 'sqlite:other.db', '--no-migrate');
    expect([fresh.code, fresh.err]).toEqual([1, expect.stringContaining('Run "holdfast admin migrate up"')]);
  });

  test.each<[string, readonly string[], RegExp]>([
    ['a store of no kind', ['--store', 'mysql://x'], /This is no store/],
    [
      'many nodes without a key',
      ['--store', 'postgres://a:b@127.0.0.1:1/d'],
      /^holdfast: HOLDFAST_SECRETS_KEY is not set/,
    ],
    ['an address for everybody', ['--host', '0.0.0.0'], /--allow-anonymous/],
    ['a wrong setting', ['--log-level', 'loud'], /^holdfast: Configuration: logLevel/],
    ['a settings file that is not there', ['--config', 'none.yaml'], /none\.yaml cannot be read/],
  ])('%s', async (_name, words, line) => {
    const ran = await start(...words);
    expect([ran.code, ran.out]).toEqual([1, '']);
    expect(ran.err).toMatch(line);
    expect(ran.err.trimEnd().split('\n').length).toBe(1);
  });

  test('a Node that is too old, said before anything else is loaded', async () => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '22.11.0' }); import(${JSON.stringify(MAIN)});`;
    const ran = await run(['-e', pretend]);
    expect([ran.code, ran.out]).toEqual([1, '']);
    expect(ran.err).toMatch(
      /^holdfast needs Node 22\.22\.3 or newer in line 22, or 24\.15 or newer; this is 22\.11\.0\..*\n$/,
    );
  });
});

describe('admin', () => {
  test('migrate plans, migrates and says where the schema stands', async () => {
    const before = await holdfast('admin', 'migrate', 'status');
    expect(before.out).toMatch(/^Schema: 0\nNeeded: \d+\nPending: 1 /);
    const plan = await holdfast('admin', 'migrate', 'plan');
    expect(plan.out).toMatch(/^create table task|create table session/m);
    expect((await holdfast('admin', 'migrate', 'status')).out).toBe(before.out);
    const up = await holdfast('admin', 'migrate', 'up');
    expect([up.code, up.err]).toEqual([0, '']);
    expect(up.out).toMatch(/^Applied: 1 /);
    const again = await holdfast('admin', 'migrate', 'up', '-o', 'json');
    expect(JSON.parse(again.out)).toMatchObject({ pending: [] });
    expect((await holdfast('admin', 'migrate', 'plan')).out).toBe('-- nothing to do\n');
    expect((await holdfast('admin', 'migrate', 'plan', '--store', 'memory')).code).toBe(1);
  });

  test('tasks lists those of every agent and scope, while no server runs', async () => {
    const server = await serve();
    await holdfast('send', 'hello', '-a', server.url);
    await holdfast('send', 'book a table', '-a', server.url);
    const busy = await holdfast('admin', 'tasks');
    expect([busy.code, busy.err]).toEqual([1, expect.stringContaining('is in use by process')]);
    await server.terminate();
    const listed = JSON.parse((await holdfast('admin', 'tasks', '-o', 'json')).out);
    expect(
      listed.tasks.map((task: { state: string; agent: string; scope: string }) => [task.state, task.agent, task.scope]),
    ).toEqual([
      ['input-required', 'demo', 'anonymous'],
      ['completed', 'demo', 'anonymous'],
    ]);
    const text = await holdfast('admin', 'tasks', '--state', 'input_required');
    expect(text.out).toMatch(/^Task ID: .*\nContext ID: .*\nState: INPUT_REQUIRED\nAgent: demo\nScope: anonymous\n/);
    expect(text.out).toContain('\nTasks: 1 completed, 1 input-required\n');
  });

  test('doctor finds what is well and what is not', async () => {
    const well = await holdfast('admin', 'doctor', '--port', '0');
    expect(well.code, well.out).toBe(0);
    expect(well.out).toMatch(
      /^node: ok, .*\nsettings: ok, .*\nschema: ok, .*\nstore: ok, .*made at the first start\nkeys: ok, .*\nport: ok, .*\n$/,
    );
    const server = await serve();
    const port = new URL(server.url).port;
    const ill = await holdfast('admin', 'doctor', '--port', port, '-a', server.url);
    expect(ill.code).toBe(1);
    expect(ill.out).toMatch(/^store: FAILS, .*in use by process/m);
    expect(ill.out).toMatch(/^port: FAILS, .*EADDRINUSE/m);
    expect(ill.out).toMatch(/^server: ok, demo answers/m);
  });
});

test('a send outlives kill -9 of its server: the outcome is whole, and said once', async () => {
  const port = await freePort();
  const start = () => startServer({ args: [MAIN, 'serve', '--port', String(port)], cwd: folder });
  const first = await start();
  servers.push(first);
  const sending = holdfast('send', 'write about eels', '-a', first.url, '-o', 'json');
  const essays = async () => {
    const list = await (
      await fetch(`${first.url}/a2a/v1/tasks?includeArtifacts=true`, { headers: { 'a2a-version': '1.0' } })
    ).json();
    return (list as { tasks: { artifacts?: { parts: unknown[] }[] }[] }).tasks[0]?.artifacts?.[0]?.parts.length ?? 0;
  };
  await expect.poll(essays, { interval: 20, timeout: 30_000 }).toBeGreaterThan(1);
  await first.kill();
  servers.push(await start());
  const ran = await sending;
  expect(ran.code, ran.err).toBe(0);
  expect(ran.err).toContain('Taking it up.');
  const { task } = JSON.parse(ran.out);
  const lines = task.artifacts[0].parts.map((part: { text: string }) => part.text);
  expect([task.status.state, lines.length, new Set(lines).size]).toEqual(['TASK_STATE_COMPLETED', 7, 7]);
});

async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await new Promise<number>((resolve) => {
    probe.listen(0, '127.0.0.1', () => resolve((probe.address() as { port: number }).port));
  });
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

test('a reader that has seen enough may close the pipe', async () => {
  const server = await serve('--store', 'memory');
  const ran = await run([
    '-e',
    `
    const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, [${JSON.stringify(MAIN)}, 'send', 'write about eels', '--stream', '-a', ${JSON.stringify(server.url)}]);
    child.stdout.once('data', () => child.stdout.destroy());
    child.stderr.pipe(process.stderr);
    child.once('close', (code) => { process.exitCode = code; });`,
  ]);
  expect([ran.code, ran.err]).toEqual([0, '']);
});
