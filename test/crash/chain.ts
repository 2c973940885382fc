import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { checkLog } from './check-log.ts';
import type { DurableClient, SeenEvent } from './durable-client.ts';

/** The chain's log as every run of it must leave it, however often it was cut; runs come and go and are left out. */
const CHAIN_EVENTS = [
  'task-created',
  'message-received chain',
  'status-changed TASK_STATE_SUBMITTED',
  'status-changed TASK_STATE_WORKING',
  'status-changed TASK_STATE_WORKING begins',
  'status-changed TASK_STATE_WORKING reads',
  'question-asked ask:Ship it?',
  'status-changed TASK_STATE_INPUT_REQUIRED Ship it? | {"askId":"ask:Ship it?","schema":{"type":"object","required":["ship"],"properties":{"ship":{"type":"boolean"}}}}',
  'message-received {"ship":true}',
  'question-answered answered ask:Ship it?',
  'status-changed TASK_STATE_WORKING',
  'artifact-updated report It ',
  'artifact-updated append rains ',
  'artifact-updated append in ',
  'artifact-updated append Oslo',
  'artifact-updated append .',
  'timer-set sleep:5s',
  'timer-fired sleep:5s',
  'status-changed TASK_STATE_WORKING ships',
  'artifact-updated append last  true',
  'artifact-updated result last search done, read done, ship done',
  'status-changed TASK_STATE_COMPLETED',
];

/**
 * Three paid steps, a question, a sleep and a streamed artifact, seen from outside: the log holds the same events in
 * the same order, the artifacts are the same, and what the ledger says of each step is one effect under one key, none
 * after its result was on record.
 */
export async function chain(client: DurableClient, ledger: string): Promise<void> {
  const { id } = await client.send('chain');
  const following = client.follow(id);
  await client.until(id, ['TASK_STATE_INPUT_REQUIRED']);
  await client.send('chain', { taskId: id, data: { ship: true } });
  const seen = await following;
  await checkLog(client, id, seen);
  assert.deepEqual(seen.filter(isOfTheTask).map(inWords), CHAIN_EVENTS, 'the log holds the same events');
  const { artifacts = [] } = await client.get(id);
  const texts = artifacts.map(({ name, parts }) => [name, parts.map(({ text }) => text).join('')]);
  assert.deepEqual(texts, [
    ['report', 'It rains in Oslo. true'],
    ['result', 'search done, read done, ship done'],
  ]);
  checkSteps(readFileSync(ledger, 'utf8').trim().split('\n'));
}

/** A run that was cut is followed by another, so their number differs; what they leave does not. */
function isOfTheTask({ kind }: SeenEvent): boolean {
  return kind !== 'run-started' && kind !== 'run-settled';
}

function inWords({ kind, text }: SeenEvent): string {
  const { state, message, artifact, append, lastChunk, how, key, askId } = JSON.parse(text);
  const words = (message ?? artifact)?.parts.map(
    (part: { text?: string; data?: unknown }) => part.text ?? JSON.stringify(part.data),
  );
  const facts = [
    state,
    artifact?.name,
    append === true ? 'append' : undefined,
    lastChunk ? 'last' : undefined,
    how,
    key,
    askId,
    words?.join(' | '),
  ];
  return [kind, ...facts.filter((fact) => fact !== undefined)].join(' ');
}

/** One crash: a step may have been tried twice before it was on record, always under one key. Never afterwards. */
function checkSteps(lines: readonly string[]): void {
  for (const name of ['search', 'read', 'ship']) {
    const effects = lines.filter((line) => line.startsWith(`effect ${name} `));
    assert.ok(effects.length >= 1 && effects.length <= 2, `${name} ran ${effects.length} times`);
    assert.equal(new Set(effects).size, 1, `${name} had one idempotency key`);
    const recordedAt = lines.indexOf(`recorded ${name}`);
    const after = lines.slice(recordedAt).filter((line) => line.startsWith(`effect ${name} `));
    assert.ok(recordedAt < 0 || after.length === 0, `${name} ran again although it was on record`);
  }
}
