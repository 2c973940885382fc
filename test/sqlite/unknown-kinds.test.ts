import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { clientMessage, doorAgent } from '../../src/testing/door-agent.ts';
import { call, framesOf } from '../../src/testing/door-calls.ts';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { testFolder } from './folder.ts';

const UNKNOWN_KIND = 99;

/** A fact at the head of every log, as a version would write it that knows one kind more. */
function writeAsNewerVersion(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`
    update task set head_seq = head_seq + 1;
    insert into event (task_no, seq, seq_first, kind, audience, at, bytes, payload)
    select no, head_seq, head_seq, ${UNKNOWN_KIND}, 0, head_at, 16, '{"state":"completed"}' from task`);
  database.close();
}

async function ask(world: ServerWorld): Promise<string> {
  const sent = await call(world, '/a2a/v1/message:send', { body: { message: clientMessage({ skill: 'ask' }) } });
  expect(sent.json.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  return sent.json.task.id;
}

test('a fact of a kind that a newer version wrote is passed over by every reader, and the task goes on', async () => {
  const path = join(await testFolder(), 'data.db');
  const serve = () => startWorld({ agents: [doorAgent()], store: `sqlite:${path}` });
  const before = await serve();
  const taskId = await ask(before);
  const whole = (await call(before, `/v1/tasks/${taskId}`)).json;
  await before.close();
  writeAsNewerVersion(path);

  const world = await serve();
  const headSeq = whole.seq + 1;
  expect((await call(world, `/v1/tasks/${taskId}`)).json).toMatchObject({
    status: whole.status,
    seq: headSeq,
  });
  const page = (await call(world, `/v1/tasks/${taskId}/events?after=${whole.seq}`)).json;
  expect(page).toMatchObject({ events: [], headSeq });
  expect(page.cursor, 'a cursor stands behind what was passed over').not.toBe(whole.cursor);

  const parts = [{ text: 'blue' }];
  const answered = await call(world, '/a2a/v1/message:send', { body: { message: clientMessage({ taskId, parts }) } });
  expect(answered.json.task.status.state).toBe('TASK_STATE_COMPLETED');
  const log = await call(world, `/v1/tasks/${taskId}/events`, {
    headers: { accept: 'text/event-stream', 'last-event-id': page.cursor },
  });
  const frames = framesOf(log.text);
  expect(frames.map(({ data }) => data.seq)).toEqual(frames.map((_frame, index) => headSeq + 1 + index));
  const all = await call(world, `/v1/tasks/${taskId}/events`, { headers: { accept: 'text/event-stream' } });
  const seqs = framesOf(all.text).map(({ data }) => data.seq as number);
  expect(seqs).not.toContain(headSeq);
  expect(seqs).toHaveLength(frames.length + whole.seq);
  await world.close();
});
