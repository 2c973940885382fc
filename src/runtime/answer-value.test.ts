import { expect, test } from 'vitest';
import { z } from 'zod';
import type { JournalEntry } from '../model/journal.ts';
import { readAnswer } from './answer-value.ts';

test('an answer that would hold a pattern of its schema for hours does not fit, and holds nobody', async () => {
  const schema = z.object({ codes: z.array(z.string().regex(/^(a+)+$/)) });
  const answer = { codes: ['a', `${'a'.repeat(60)}!`] };
  for (const result of [JSON.stringify(answer), JSON.stringify(JSON.stringify(answer))]) {
    const read = await readAnswer({ result } as JournalEntry, schema);
    expect(read).toMatchObject({ ok: false });
  }
  const reason = 'That answer does not fit: codes[1] is too intricate for ^(a+)+$.';
  expect(await readAnswer({ result: JSON.stringify(answer) } as JournalEntry, schema)).toEqual({ ok: false, reason });
  expect(await readAnswer({ result: '{"codes":["aa"]}' } as JournalEntry, schema)).toMatchObject({ ok: true });
});
