import { expect, test } from 'vitest';
import { CodedError } from '../base/errors.ts';
import { anonymousCaller } from '../model/scope.ts';
import { doorAgent } from '../testing/door-agent.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import type { Call } from './operations.ts';
import { type OperationParts, operation, type Verb } from './verb.ts';

function createPipeline(verb: Verb<string, string>, permits = true) {
  const clock = createFakeClock();
  const ended: unknown[] = [];
  const parts = {
    clock,
    permits: () => permits,
    meter: { ended: (given: unknown) => ended.push(given), streams: () => {} },
  } as unknown as OperationParts;
  const call: Call = { caller: anonymousCaller, agent: doorAgent(), signal: new AbortController().signal };
  return { clock, ended, run: (params: string) => operation(parts, 'getTask', verb)(call, params) };
}

test('authorize, validate, run, measure: in this order, each once', async () => {
  const steps: string[] = [];
  const { ended, run } = createPipeline({
    validate: (_parts, _call, params) => void steps.push(`validate ${params}`),
    run: async (_parts, _call, params) => {
      steps.push(`run ${params}`);
      return 'done';
    },
  });
  expect(await run('x')).toBe('done');
  expect(steps).toEqual(['validate x', 'run x']);
  expect(ended).toEqual([{ name: 'getTask', agent: 'door', code: 'ok', durationMs: 0 }]);
});

test('a refusal runs nothing, and is measured by its code', async () => {
  const steps: string[] = [];
  const verb: Verb<string, string> = {
    validate() {
      throw new CodedError('invalid_argument');
    },
    run: async () => {
      steps.push('run');
      return '';
    },
  };
  const refused = createPipeline(verb);
  await expect(refused.run('x')).rejects.toMatchObject({ code: 'invalid_argument' });
  const forbidden = createPipeline({ run: verb.run }, false);
  await expect(forbidden.run('x')).rejects.toMatchObject({
    code: 'permission_denied',
    detail: { metadata: { operation: 'getTask' } },
  });
  const broken = createPipeline({ run: () => Promise.reject(new Error('broken')) });
  await expect(broken.run('x')).rejects.toThrow('broken');
  expect(steps).toEqual([]);
  expect([refused, forbidden, broken].flatMap(({ ended }) => ended)).toMatchObject([
    { code: 'invalid_argument' },
    { code: 'permission_denied' },
    { code: 'internal' },
  ]);
});
