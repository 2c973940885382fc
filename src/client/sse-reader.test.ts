import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSse, type SseEvent } from './sse-reader.ts';

async function read(text: string, cuts: readonly number[] = []): Promise<readonly SseEvent[]> {
  const bytes = new TextEncoder().encode(text);
  const places = [0, ...[...cuts].map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  async function* body() {
    for (let index = 1; index < places.length; index += 1) yield bytes.subarray(places[index - 1], places[index]);
  }
  const events: SseEvent[] = [];
  for await (const event of readSse(body())) events.push(event);
  return events;
}

test('a frame is id, event and data; the id stays until another comes', async () => {
  expect(await read('id: c1\nevent: status\ndata: {}\n\ndata: 2\n\nid: c3\ndata:3\n\n')).toEqual([
    { id: 'c1', event: 'status', data: '{}' },
    { id: 'c1', data: '2' },
    { id: 'c3', data: '3' },
  ]);
});

test('lines of data are joined, comments and unknown fields skipped, an unfinished event dropped', async () => {
  expect(await read(': ping\n\nretry: 5\ndata: a\ndata: b\nfoo: bar\ndata\n\ndata: never')).toEqual([
    { data: 'a\nb\n' },
  ]);
});

test('every line end, cut anywhere, gives the same events', async () => {
  const text = 'id: 1\ndata: zwölf\n\n: ping\n\nid: 2\ndata: a\ndata: b\n\n';
  const expected = await read(text);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(100), { maxLength: 12 }),
      async (end, cuts) => {
        expect(await read(text.replaceAll('\n', end), cuts)).toEqual(expected);
      },
    ),
    { seed: 11 },
  );
});
