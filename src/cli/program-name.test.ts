import { expect, test } from 'vitest';
import { asCalled, programName } from './program-name.ts';

const env = { PATH: '/usr/bin:/opt/node/bin' };

test.each([
  ['installed', { file: '/opt/node/bin/holdfast', cwd: '/home/ann', env }, 'holdfast'],
  ['not on the path', { file: '/home/ann/bin/holdfast', cwd: '/home/ann', env }, 'bin/holdfast'],
  [
    'as a dependency, by npm start',
    {
      file: '/p/node_modules/.bin/holdfast',
      cwd: '/p/src',
      env: { PATH: '/p/node_modules/.bin', npm_lifecycle_event: 'start' },
    },
    'npx holdfast',
  ],
  [
    'by node, in a process of npx',
    { file: '/p/src/cli/main.ts', cwd: '/p', env: { npm_command: 'exec' } },
    'node src/cli/main.ts',
  ],
  [
    'through npx',
    { file: '/root/.npm/_npx/1/node_modules/.bin/holdfast', cwd: '/p', env: { npm_command: 'exec' } },
    'npx holdfast',
  ],
  [
    'by npm start',
    { file: '/p/src/cli/main.ts', cwd: '/p', env: { npm_command: 'start', npm_lifecycle_event: 'start' } },
    'npm run -s holdfast --',
  ],
  [
    'by npm run holdfast',
    { file: '/p/src/cli/main.ts', cwd: '/p', env: { npm_command: 'run', npm_lifecycle_event: 'holdfast' } },
    'npm run -s holdfast --',
  ],
  ['by node', { file: '/p/src/cli/main.ts', cwd: '/p', env }, 'node src/cli/main.ts'],
  ['by node, beside it', { file: '/p/main.js', cwd: '/p', env }, 'node ./main.js'],
  [
    'by node, from far away',
    { file: '/p/src/cli/main.ts', cwd: '/home/ann/deep/down', env },
    'node /p/src/cli/main.ts',
  ],
  ['in a folder with a space', { file: '/a b/main.ts', cwd: '/home/ann', env }, 'node "/a b/main.ts"'],
])('called %s', (_how, called, name) => {
  expect(programName(called)).toBe(name);
});

test('commands in a text are named as the program was called, other words stay', () => {
  expect(asCalled('`holdfast task list` shows them; holdfast uses npx', 'npx holdfast')).toBe(
    '`npx holdfast task list` shows them; holdfast uses npx',
  );
});
