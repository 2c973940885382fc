import { expect, test } from 'vitest';
import { childOnUse, type LogFields, type Logger } from './log.ts';

test('a child is made at its first line, once, and writes what it is given under its fields', () => {
  const made: LogFields[] = [];
  const written: unknown[] = [];
  const line = (level: string) => (message: string, fields?: LogFields) => void written.push([level, message, fields]);
  const child: Logger = {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: () => child,
  };
  const parent: Logger = {
    ...child,
    child: (fields) => {
      made.push(fields);
      return child;
    },
  };
  const late = childOnUse(parent, () => ({ run: 1 }));
  expect(made).toEqual([]);
  late.debug('a');
  late.info('b', { x: 1 });
  late.warn('c');
  late.error('d');
  expect(written).toEqual([
    ['debug', 'a', undefined],
    ['info', 'b', { x: 1 }],
    ['warn', 'c', undefined],
    ['error', 'd', undefined],
  ]);
  expect(late.child({})).toBe(child);
  expect(made).toEqual([{ run: 1 }]);
});
