import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { chain } from './chain.ts';
import { checkLog } from './check-log.ts';
import type { DurableClient } from './durable-client.ts';

/** What clients of all kinds do at once. */
export async function allSkills(client: DurableClient, ledger: string): Promise<void> {
  await Promise.all([stream(client), order(client), timer(client), cancel(client), chain(client, ledger)]);
  checkLedger(ledger);
}

async function stream(client: DurableClient): Promise<void> {
  const { id } = await client.send('stream');
  const seen = await client.follow(id);
  const task = await client.until(id, ['TASK_STATE_COMPLETED']);
  const text = task.artifacts
    ?.find((artifact) => artifact.name === 'lines')
    ?.parts.map((part) => part.text)
    .join('');
  assert.equal(
    text,
    Array.from({ length: 40 }, (_, index) => `${index}\n`).join(''),
    'the artifact holds each line once and in order',
  );
  await checkLog(client, id, seen);
}

async function order(client: DurableClient): Promise<void> {
  const { id } = await client.send('order');
  const following = client.follow(id);
  await client.until(id, ['TASK_STATE_INPUT_REQUIRED']);
  await client.send('order', { taskId: id, data: { count: 3 } });
  const seen = await following;
  await checkLog(client, id, seen);
  const task = await client.until(id, ['TASK_STATE_COMPLETED']);
  assert.equal(task.artifacts?.find((artifact) => artifact.name === 'result')?.parts[0]?.text, 'charged for 3');
  assert.equal(
    seen.filter((event) => event.kind === 'message-received').length,
    2,
    'each message stands in the log once',
  );
}

async function timer(client: DurableClient): Promise<void> {
  const { id } = await client.send('timer');
  const seen = await client.follow(id);
  await checkLog(client, id, seen);
  const task = await client.until(id, ['TASK_STATE_COMPLETED']);
  assert.equal(task.artifacts?.find((artifact) => artifact.name === 'result')?.parts[0]?.text, 'nobody');
}

async function cancel(client: DurableClient): Promise<void> {
  const { id } = await client.send('endless');
  const following = client.follow(id);
  await client.until(id, ['TASK_STATE_WORKING']);
  const task = await client.cancel(id);
  assert.equal(task.status.state, 'TASK_STATE_CANCELED');
  await checkLog(client, id, await following);
}

/** One crash: an effect may have been tried twice, always under one key. */
function checkLedger(file: string): void {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  for (const name of ['reserve', 'charge', 'give-up']) {
    const of = lines.filter((line) => line.startsWith(`${name} `));
    assert.ok(of.length >= 1 && of.length <= 2, `${name} ran ${of.length} times`);
    assert.equal(new Set(of).size, 1, `${name} had one idempotency key`);
  }
}
