import { defineAgent, Reject } from '../../src/index.ts';

const MIB = 1024 * 1024;

/**
 * Makes a task as large as it is told to, waits for an answer, says one word more and ends. `text` is MiB of one text
 * artifact in chunks of `chunk` MiB, `files` artifacts of 8 MiB of bytes each.
 */
export default defineAgent({
  name: 'large',
  description: 'Makes large tasks, for measuring what readers of them cost.',
  async run(turn) {
    const order = new URLSearchParams(turn.text);
    if (!order.has('text') && !order.has('files')) throw new Reject('Write text=MIB&chunk=MIB&files=COUNT.');
    const number = (name: string, missing: number): number => Number(order.get(name) ?? missing);
    const text = turn.artifact('text');
    for (let at = 0; at < number('text', 0) / number('chunk', 4); at += 1) {
      await text.append(String(at % 10).repeat(number('chunk', 4) * MIB));
    }
    for (let at = 0; at < number('files', 0); at += 1) {
      const file = turn.artifact(`file-${at}`, { mediaType: 'application/octet-stream' });
      await file.append(Buffer.alloc(8 * MIB, at + 1), { last: true });
    }
    await turn.ask('Is it large enough?');
    await text.append('the end', { last: true });
  },
});
