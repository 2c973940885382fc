import { expect, test } from 'vitest';
import { parseBenchText } from './bench.ts';

test('what an order leaves out has its default, in any order', () => {
  expect(parseBenchText('bench')).toEqual({ chunks: 0, size: 64, delay: 0, hold: 0 });
  expect(parseBenchText(' bench delay=50  chunks=200\n')).toEqual({ chunks: 200, size: 64, delay: 50, hold: 0 });
  expect(parseBenchText('bench chunks=1 size=2 delay=3 hold=4')).toEqual({ chunks: 1, size: 2, delay: 3, hold: 4 });
});

test.each([
  '',
  'hello',
  'benchmark',
  'bench chunk=1',
  'bench chunks=-1',
  'bench chunks=1e9',
  'bench chunks= 5',
  'bench 5',
])('another text is refused with what to write: %j', (text) => {
  expect(() => parseBenchText(text)).toThrow(/Write "bench chunks=K size=B delay=MS hold=MS"/);
});

test('each setting has its largest value', () => {
  expect(() => parseBenchText('bench chunks=1000001')).toThrow('chunks may be at most 1000000.');
  expect(() => parseBenchText('bench size=9999999')).toThrow('size may be at most 4194304.');
});
