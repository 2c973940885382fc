import assert from 'node:assert/strict';
import type { DurableClient, SeenEvent } from './durable-client.ts';

/** The log is whole, says what the stream said, ends with the one terminal status, and leaves no run open. */
export async function checkLog(client: DurableClient, id: string, seen: readonly SeenEvent[]): Promise<void> {
  const log = await client.log(id);
  assert.deepEqual(
    log.map((event) => event.seq),
    log.map((_, index) => index + 1),
    'the log has no gaps',
  );
  assert.deepEqual(
    seen.map((event) => event.seq),
    log.map((event) => event.seq),
    'the stream gave every event once, in order',
  );
  seen.forEach((event, index) => {
    assert.deepEqual(
      JSON.parse(event.text),
      JSON.parse(log[index]?.text ?? 'null'),
      'the stream and the log say the same',
    );
  });
  const terminal = log.filter(
    (event) => event.kind === 'status-changed' && /TASK_STATE_(COMPLETED|FAILED|CANCELED|REJECTED)/.test(event.text),
  );
  assert.equal(terminal.length, 1, 'there is exactly one terminal status');
  assert.equal(terminal[0]?.seq, log.at(-1)?.seq, 'the terminal status is the last event');
  const open = (await client.runs(id)).filter((run) => run.state !== 'settled');
  assert.deepEqual(open, [], 'no run is left open');
}
