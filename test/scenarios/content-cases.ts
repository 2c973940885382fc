import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { verifies } from '../requirements.ts';
import { doorMakers, okOf, readAll, type Wire } from './door.ts';
import { nativeDoor } from './native-door.ts';
import { Gates, scenarioAgent } from './scenario-agent.ts';

const odd = {
  nul: 'a\u0000b',
  lone: 'x\ud800y\udfffz',
  emoji: '👩‍👩‍👧 مرحبا',
  big: Number.MAX_SAFE_INTEGER,
  small: -Number.MAX_SAFE_INTEGER,
  float: 0.1,
  empty: '',
  nested: { z: 1, a: 2, '': [], null: null },
  list: [null, true, [], {}],
};

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Run by one file per store, so that PostgreSQL runs where a server is. */
export function describeContent(name: string, open: (folder: string) => string): void {
  describe(name, () => {
    let folder: string;
    let world: ServerWorld;
    beforeAll(async () => {
      folder = mkdtempSync(path.join(os.tmpdir(), 'holdfast-content-'));
      world = await startWorld({ agents: [scenarioAgent(new Gates())], store: open(folder) });
    });
    afterAll(async () => {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    });

    test.each(doorMakers)(`%o: odd text and data come back equal ${verifies('content.equal')}`, async (makeDoor) => {
      const door = makeDoor({ url: world.url });
      const data = JSON.parse(`{"z":1,"a":2,"__proto__":{"x":1},"10":1,"2":2}`) as unknown;
      const parts = [
        { text: odd.nul },
        { text: odd.lone },
        { text: odd.emoji },
        { data: odd },
        { data },
        { data: null },
      ];
      const { task } = okOf(await door.send({ skill: 'echo', parts }));
      const expected = `echo: ${odd.nul}\n${odd.lone}\n${odd.emoji}`;
      expect(task.artifacts[0].parts[0].text).toBe(expected);
      const got = okOf(await door.get(task.id));
      expect(got.history[0].parts.map((part: Wire) => part.text ?? part.data)).toEqual([
        odd.nul,
        odd.lone,
        odd.emoji,
        odd,
        data,
        null,
      ]);
      expect(JSON.stringify(got.history[0].parts[3].data)).toBe(JSON.stringify(odd));
      expect(JSON.stringify(got.history[0].parts[4].data)).toBe(JSON.stringify(data));
      const frames = await nativeDoor({ url: world.url }).follow(task.id);
      const received = frames.find((frame) => frame.event === 'message-received');
      expect(JSON.stringify(received?.value.message.parts[3].data)).toBe(JSON.stringify(odd));
    });

    test.each(doorMakers)(
      `%o: 8 MiB of bytes come back equal ${verifies('content.equal')}`,
      async (makeDoor) => {
        const door = makeDoor({ url: world.url });
        const bytes = randomBytes(8 * 1024 * 1024);
        const raw = bytes.toString('base64');
        const frames = await readAll(
          await door.stream({
            skill: 'file',
            parts: [{ raw, filename: 'big.bin', mediaType: 'application/octet-stream' }],
          }),
        );
        const { id } = frames[0].task;
        const update = frames.find((frame) => frame.artifactUpdate !== undefined).artifactUpdate;
        expect(sha256(Buffer.from(update.artifact.parts[0].raw, 'base64'))).toBe(sha256(bytes));
        const task = okOf(await door.get(id));
        expect(sha256(Buffer.from(task.artifacts[0].parts[0].raw, 'base64'))).toBe(sha256(bytes));
        const fetched = await fetch(`${world.url}/v1/tasks/${id}/artifacts/${task.artifacts[0].artifactId}`);
        expect(sha256(new Uint8Array(await fetched.arrayBuffer()))).toBe(sha256(bytes));
        const listed = (await nativeDoor({ url: world.url }).get(`/v1/tasks/${id}/artifacts`)).body.artifacts;
        expect(listed.map((artifact: Wire) => artifact.origin).toSorted()).toEqual(['input', 'output']);
      },
      60_000,
    );
  });
}
