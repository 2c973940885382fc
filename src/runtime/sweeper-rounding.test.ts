import { expect, test } from 'vitest';
import { createNode } from '../testing/runtime-node.ts';

test('a sweep that is due by a fraction of a millisecond does not spin', async () => {
  const node = await createNode();
  for (const fraction of [0.1, 0.2, 0.3, 0.6, 0.7]) {
    await node.clock.advance(fraction);
    if (fraction === 0.1) await node.start();
    await node.clock.advance(20_000);
  }
  expect(node.clock.monotonicMs()).toBeCloseTo(100_001.9, 3);
  await node.stop();
});
