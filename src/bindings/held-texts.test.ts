import { describe, expect, test } from 'vitest';
import { CodedError } from '../base/errors.ts';
import type { BlobNo } from '../model/ids.ts';
import { splitAtBlobs } from '../protocol/v1/blob-marks.ts';
import { encodePart } from '../protocol/v1/parts.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { HeldTexts, type TextSource } from './held-texts.ts';

const KIB = 1024;

/** A text of 64 KiB pieces that counts how often it is written. */
function createSource(key: string, text: string): TextSource & { readonly writes: () => number } {
  let writes = 0;
  return {
    key,
    bytes: text.length,
    write: () => {
      writes += 1;
      return Promise.resolve(splitAtBlobs(text));
    },
    writes: () => writes,
  };
}

const noBlobs = (): AsyncIterable<Uint8Array> => {
  throw new Error('there is none');
};

async function readAll(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

const letters = (bytes: number): string => Array.from({ length: bytes / 8 }, (_, at) => `${at}`.padStart(8)).join('');

describe('held texts', () => {
  test('a text is written once for all who read it at once, and kept no longer', async () => {
    const held = new HeldTexts({ clock: createFakeClock(), readBlob: noBlobs });
    const source = createSource('a', letters(512 * KIB));
    const readers = Array.from({ length: 20 }, () => held.read(source));
    const begun = await Promise.all(readers.map((reader) => reader.next()));
    expect(begun.map(({ value }) => value.length)).toEqual(begun.map(() => 64 * KIB));
    expect(held.counts()).toEqual({ texts: 1, readers: 20, bytes: 512 * KIB });
    const rests = await Promise.all(readers.map(readAll));
    for (const rest of rests) expect(begun[0]?.value + rest).toBe(letters(512 * KIB));
    expect(source.writes()).toBe(1);
    expect(held.counts()).toEqual({ texts: 0, readers: 0, bytes: 0 });
  });

  test('a reader that leaves takes nothing along but its place', async () => {
    const held = new HeldTexts({ clock: createFakeClock(), readBlob: noBlobs });
    const source = createSource('a', letters(256 * KIB));
    const [leaves, stays] = [held.read(source), held.read(source)];
    await Promise.all([leaves.next(), stays.next()]);
    await leaves.return(undefined);
    expect(held.counts()).toMatchObject({ texts: 1, readers: 1 });
    expect((await readAll(stays)).length).toBe(192 * KIB);
    expect(source.writes()).toBe(1);
  });

  test('no letter is cut, whatever its length, and a blob stands as base64 where its mark does', async () => {
    const blob = { kind: 'blob', blobNo: 7 as BlobNo, bytes: 10, sha256: '' } as const;
    const words = ['ä', '€', '🙂', 'x'].map((letter) => letter.repeat(90_001));
    const text = JSON.stringify({ words, file: encodePart(blob), end: '🙂' });
    const bytes = Buffer.from('0123456789');
    async function* readBlob(): AsyncGenerator<Uint8Array> {
      for (const cut of [0, 4, 8]) yield bytes.subarray(cut, cut + 4);
    }
    const held = new HeldTexts({ clock: createFakeClock(), readBlob });
    const read = await readAll(held.read(createSource('a', text)));
    expect(JSON.parse(read)).toEqual({ words, file: { raw: bytes.toString('base64') }, end: '🙂' });
  });
});

describe('room', () => {
  test('is made by those who have stalled; they find their text written anew and miss nothing', async () => {
    const clock = createFakeClock();
    const held = new HeldTexts({ clock, readBlob: noBlobs, bytesMax: 512 * KIB });
    const [a, b] = [createSource('a', letters(512 * KIB)), createSource('b', letters(256 * KIB))];
    const stalled = held.read(a);
    const begin = (await stalled.next()).value ?? '';
    const other = held.read(b);
    const first = other.next();
    await clock.advance(1_000);
    expect(held.counts()).toEqual({ texts: 1, readers: 2, bytes: 512 * KIB });
    await clock.advance(1_250);
    expect((await first).value).toHaveLength(64 * KIB);
    expect(held.counts()).toEqual({ texts: 1, readers: 2, bytes: 256 * KIB });
    await other.return(undefined);
    expect(begin + (await readAll(stalled))).toBe(letters(512 * KIB));
    expect(a.writes()).toBe(2);
  });

  test('that is not found in time is an error that says what to do, and the next one still gets some', async () => {
    const clock = createFakeClock();
    const held = new HeldTexts({ clock, readBlob: noBlobs, bytesMax: 512 * KIB });
    const busy = held.read(createSource('a', letters(512 * KIB)));
    await busy.next();
    const source = createSource('b', letters(256 * KIB));
    const refused = expect(held.prepare(source)).rejects.toMatchObject({
      code: 'overloaded',
      detail: { retryAfterSeconds: 5 },
    });
    for (let seconds = 0; seconds < 31; seconds += 1) {
      await clock.advance(1_000);
      // Somebody takes a piece of it in every second.
      const another = held.read(createSource('a', letters(512 * KIB)));
      await another.next();
      await another.return(undefined);
    }
    await refused;
    await busy.return(undefined);
    expect(held.counts()).toEqual({ texts: 0, readers: 0, bytes: 0 });
    expect(await readAll(held.read(source))).toBe(letters(256 * KIB));
  });

  test('is waited for no longer by those who stand behind others', async () => {
    const clock = createFakeClock();
    const held = new HeldTexts({ clock, readBlob: noBlobs, bytesMax: 512 * KIB });
    const source = createSource('a', letters(512 * KIB));
    const busy = held.read(source);
    await busy.next();
    const refused: string[] = [];
    for (const key of ['b', 'c', 'd']) {
      held.prepare(createSource(key, letters(256 * KIB))).catch(({ code }) => refused.push(`${key} ${code}`));
    }
    for (let seconds = 0; seconds < 31; seconds += 1) {
      await clock.advance(1_000);
      const another = held.read(source);
      await another.next();
      await another.return(undefined);
    }
    expect(refused).toEqual(['b overloaded', 'c overloaded', 'd overloaded']);
    await busy.return(undefined);
  });

  test('is counted by what a text takes, not by what it was thought to take', async () => {
    const held = new HeldTexts({ clock: createFakeClock(), readBlob: noBlobs, bytesMax: 512 * KIB });
    const sources = ['a', 'b', 'c'].map((key) => ({ ...createSource(key, '€'.repeat(128 * KIB)), bytes: 128 * KIB }));
    for (const source of sources) {
      await held.prepare(source);
      expect(held.counts()).toEqual({ texts: 1, readers: 0, bytes: 384 * KIB });
    }
  });

  test('a text that was prepared for nobody is the first to go', async () => {
    const clock = createFakeClock();
    const held = new HeldTexts({ clock, readBlob: noBlobs, bytesMax: 512 * KIB });
    await held.prepare(createSource('a', letters(512 * KIB)));
    expect(held.counts()).toEqual({ texts: 1, readers: 0, bytes: 512 * KIB });
    await held.prepare(createSource('b', letters(256 * KIB)));
    expect(held.counts()).toEqual({ texts: 1, readers: 0, bytes: 256 * KIB });
    await clock.advance(2_000);
    await readAll(held.read(createSource('c', letters(8 * KIB))));
    expect(held.counts()).toEqual({ texts: 0, readers: 0, bytes: 0 });
  });

  test('a text that cannot be written is the error of its readers, and leaves nothing behind', async () => {
    const held = new HeldTexts({ clock: createFakeClock(), readBlob: noBlobs });
    const gone = { key: 'a', bytes: 1, write: () => Promise.reject(new CodedError('task_not_found')) };
    await expect(held.prepare(gone)).rejects.toMatchObject({ code: 'task_not_found' });
    await expect(held.read(gone).next()).rejects.toMatchObject({ code: 'task_not_found' });
    const long = { ...gone, write: () => Promise.reject(new RangeError('Invalid string length')) };
    await expect(held.prepare(long)).rejects.toMatchObject({ code: 'unsupported_operation' });
    expect(held.counts()).toEqual({ texts: 0, readers: 0, bytes: 0 });
    expect(await readAll(held.read(createSource('a', 'x'.repeat(8))))).toBe('xxxxxxxx');
  });
});
