import { expect, test } from 'vitest';
import { createFakeClock } from '../testing/fake-clock.ts';
import { seededRandom, systemRandom } from './random.ts';
import { createIdSource } from './unique-id.ts';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('an id is a UUID of version 7 that holds its time', () => {
  const newId = createIdSource({ clock: createFakeClock(0x0123_4567_89ab), random: systemRandom });
  const id = newId();
  expect(id).toMatch(UUID_7);
  expect(id.slice(0, 13)).toBe('01234567-89ab');
});

test('ids differ, within one pool and over the edge of it, and sort by their time', async () => {
  const clock = createFakeClock();
  const newId = createIdSource({ clock, random: systemRandom, pool: 25 });
  const ids: string[] = [];
  for (let millisecond = 0; millisecond < 50; millisecond += 1) {
    ids.push(newId());
    await clock.advance(1);
  }
  expect(new Set(ids).size).toBe(50);
  expect(ids.every((id) => UUID_7.test(id))).toBe(true);
  expect([...ids].sort()).toEqual(ids);
});

test('the same chance and the same time make the same ids, so that a seed repeats a history', () => {
  const source = () => createIdSource({ clock: createFakeClock(), random: seededRandom(7), pool: 30 });
  const [a, b] = [source(), source()];
  expect(Array.from({ length: 20 }, a)).toEqual(Array.from({ length: 20 }, b));
});

test('every variant of the random bits is a valid id', () => {
  for (let byte = 0; byte < 256; byte += 1) {
    const random = { bytes: (count: number) => new Uint8Array(count).fill(byte), fraction: () => 0 };
    expect(createIdSource({ clock: createFakeClock(), random, pool: 10 })()).toMatch(UUID_7);
  }
});
