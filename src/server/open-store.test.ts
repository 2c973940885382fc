import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import { openStore } from './open-store.ts';

const opening = (choice: string) => openStore(choice, { clock: systemClock, logger: silentLogger, migrate: true });

test('a store that does not open says where and why in one line, and never a password', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-open-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'file'), '');
  await mkdir(join(folder, 'folder'));
  const cases = [
    ['postgres://ann:secret@127.0.0.1:1/db', /^PostgreSQL at 127\.0\.0\.1:1\/db cannot be opened: .*ECONNREFUSED.*$/],
    ['postgres://ann:secret@host:99999999/db', /^This is no store\. Write memory, sqlite:PATH or postgres:/],
    [`sqlite:${folder}/folder`, /folder cannot be opened: .*unable to open database file\.$/],
    [`sqlite:${folder}/file/x.db`, /file\/x\.db cannot be opened: E\w+: .*\.$/],
    ['papyrus', /^This is no store\./],
  ] as const;
  for (const [choice, line] of cases) {
    const error = (await opening(choice).catch((refusal: unknown) => refusal)) as Error;
    expect(error).toMatchObject({ name: 'CodedError', message: expect.stringMatching(line) });
    expect(error.message).not.toContain('secret');
  }
});
