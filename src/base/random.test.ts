import { expect, test } from 'vitest';
import { seededRandom, systemRandom } from './random.ts';

test('a seed repeats itself, and another seed says something else', () => {
  const draw = (seed: number) => Array.from({ length: 50 }, seededRandom(seed).fraction);
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  expect(seededRandom(3).bytes(16)).toEqual(seededRandom(3).bytes(16));
});

test('fractions lie in [0, 1) and spread over it', () => {
  for (const random of [seededRandom(11), systemRandom]) {
    const tenths = new Array<number>(10).fill(0);
    for (let draw = 0; draw < 10_000; draw += 1) {
      const fraction = random.fraction();
      expect(fraction >= 0 && fraction < 1).toBe(true);
      tenths[Math.floor(fraction * 10)]! += 1;
    }
    for (const count of tenths) expect(count).toBeGreaterThan(800);
  }
});

test('bytes come in the number that was asked for', () => {
  for (const random of [seededRandom(5), systemRandom]) {
    expect([random.bytes(0).length, random.bytes(33).length]).toEqual([0, 33]);
    expect(new Set(random.bytes(4_000)).size).toBeGreaterThan(200);
  }
});
