import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';
import { systemRandom } from './random.ts';
import { createIdSource } from './unique-id.ts';

test('the system gives as many bytes as are asked for', () => {
  const bytes = systemRandom.bytes(200_000);
  expect(bytes).toHaveLength(200_000);
  expect(new Set(bytes).size).toBe(256);
});

test('the system feeds a source of ids', () => {
  const newId = createIdSource({ clock: systemClock, random: systemRandom });
  const ids = Array.from({ length: 20_000 }, () => newId());
  expect(new Set(ids).size).toBe(20_000);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
