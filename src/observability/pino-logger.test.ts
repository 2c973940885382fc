import { expect, test } from 'vitest';
import { createPinoLogger } from './pino-logger.ts';

function createLogger(level?: 'warn') {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { lines, log: createPinoLogger({ destination, ...(level === undefined ? {} : { level }) }) };
}

test('a line is its message, its fields and those of its parents', () => {
  const { lines, log } = createLogger();
  log.child({ runId: 'r1' }).warn('lease lost', { fence: 3 });
  expect(lines).toMatchObject([{ level: 40, msg: 'lease lost', runId: 'r1', fence: 3 }]);
  expect(lines[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(lines[0]).not.toHaveProperty('pid');
});

test('an error comes with its stack and its causes', () => {
  const { lines, log } = createLogger();
  log.error('request failed', { error: new Error('outer', { cause: new Error('inner') }) });
  expect(lines[0]?.error).toMatchObject({ type: 'Error', message: 'outer', cause: { message: 'inner' } });
});

test('what is below the level is not written', () => {
  const { lines, log } = createLogger('warn');
  log.debug('a');
  log.info('b');
  log.error('c');
  expect(lines.map(({ msg }) => msg)).toEqual(['c']);
});

test('of a text without end only its beginning is written, in causes too', () => {
  const { lines, log } = createLogger();
  log.error('agent failed', { error: new Error('a'.repeat(5_000_000), { cause: new Error('b'.repeat(5_000_000)) }) });
  log.error('agent failed', { error: 'c'.repeat(5_000_000) });
  for (const line of lines) expect(JSON.stringify(line).length).toBeLessThan(50_000);
  expect(lines[0]?.error).toMatchObject({ message: expect.stringMatching(/^a{8000}…$/), cause: { type: 'Error' } });
  expect(lines[1]?.error).toMatch(/^c{8000}…$/);
});

test('an error that cannot be read is no reason for another', () => {
  const { lines, log } = createLogger();
  const get = (): never => {
    throw new Error('odd');
  };
  log.error('agent failed', { error: Object.defineProperty(new Error('x'), 'message', { get }) });
  expect(lines[0]).toMatchObject({ msg: 'agent failed', error: 'an error that cannot be read' });
});
