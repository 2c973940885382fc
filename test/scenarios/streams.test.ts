import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerWorld, startWorld } from '../../src/testing/server-world.ts';
import { verifies } from '../requirements.ts';
import { doorMakers, okOf, readAll, refusalOf, type Wire } from './door.ts';
import { nativeDoor } from './native-door.ts';
import { Gates, scenarioAgent } from './scenario-agent.ts';

function kinds(frames: readonly Wire[]): readonly string[] {
  return frames.map((frame) => Object.keys(frame)[0] ?? '');
}

describe.each(doorMakers)('%o', (makeDoor) => {
  const gates = new Gates();
  let world: ServerWorld;
  beforeAll(async () => {
    world = await startWorld({ agents: [scenarioAgent(gates)] });
  });
  afterAll(() => world.close());
  const door = () => makeDoor({ url: world.url });
  const begun = async (gate: string) => {
    const task = okOf(
      await door().send({ skill: 'chunks', text: gate, configuration: { returnImmediately: true } }),
    ).task;
    await gates.arrival(gate);
    return task.id as string;
  };

  test(`a stream: the Task, updates in order, the end ${verifies('stream.lifecycle', 'stream.order')}`, async () => {
    const gate = `lifecycle-${makeDoor.name}`;
    gates.open(gate);
    const frames = await readAll(await door().stream({ skill: 'chunks', text: gate }));
    expect(frames[0].task.status.state).toBe('TASK_STATE_SUBMITTED');
    expect(frames[0].task.history).toHaveLength(1);
    expect(kinds(frames)).toEqual([
      'task',
      'statusUpdate',
      'statusUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    const updates = frames.flatMap((frame) => frame.artifactUpdate ?? []);
    expect(updates.map((update: Wire) => update.artifact.parts[0].text)).toEqual(['one ', 'two ', 'three']);
    expect(updates.map((update: Wire) => update.append ?? false)).toEqual([false, true, true]);
    expect(updates.at(-1).lastChunk).toBe(true);
    expect(frames.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test(`a subscription begins with the task as it stands, and ends with it ${verifies('subscribe.snapshot-first', 'subscribe.ends', 'stream.broadcast')}`, async () => {
    const gate = `subscribe-${makeDoor.name}`;
    const id = await begun(gate);
    const streams = [await door().subscribe(id), await door().subscribe(id), await door().subscribe(id)];
    const reading = Promise.all(streams.map(readAll));
    gates.open(gate);
    const all = await reading;
    for (const frames of all) {
      expect(frames[0].task.artifacts[0].parts[0].text).toBe('one ');
      expect(kinds(frames)).toEqual(['task', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']);
      expect(frames).toEqual(all[0]);
    }
  });

  test(`a client that leaves changes nothing ${verifies('stream.independent', 'durable.disconnect')}`, async () => {
    const gate = `leaves-${makeDoor.name}`;
    const id = await begun(gate);
    const [leaver, stayer] = [await door().subscribe(id), await door().subscribe(id)];
    if (leaver.ok) {
      await leaver.stream.frames[Symbol.asyncIterator]().next();
      leaver.stream.close();
    }
    const reading = readAll(stayer);
    gates.open(gate);
    expect((await reading).at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
    expect(okOf(await door().get(id)).artifacts[0].parts).toHaveLength(3);
  });

  test(`what is wrong before a stream begins is a plain error ${verifies('stream.early-error')}`, async () => {
    expect(refusalOf(await door().stream({ taskId: 'nope' })).reason).toBe('TASK_NOT_FOUND');
    expect(refusalOf(await door().stream({ parts: [] })).message).toContain('parts');
    expect(refusalOf(await door().subscribe('nope')).reason).toBe('TASK_NOT_FOUND');
  });

  test('a sent stream ends at INPUT_REQUIRED, a subscription goes on over the answer', async () => {
    const frames = await readAll(await door().stream({ skill: 'ask', text: 'x' }));
    expect(frames.at(-1).statusUpdate.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const { id } = frames[0].task;
    const subscription = await door().subscribe(id);
    await door().send({ taskId: id, parts: [{ data: { count: 5 } }] });
    const states = (await readAll(subscription)).flatMap((frame) => frame.statusUpdate?.status.state ?? []);
    expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });

  test(`a stream of AUTH_REQUIRED stays open until it is cleared ${verifies('auth-required.message')}`, async () => {
    const stream = await door().stream({ skill: 'signin', text: 'x' });
    if (!stream.ok) throw new Error('no stream');
    const frames = stream.stream.frames[Symbol.asyncIterator]();
    const { task } = (await frames.next()).value.value;
    for (;;) {
      const { value } = await frames.next();
      if (value.value.statusUpdate?.status.state === 'TASK_STATE_AUTH_REQUIRED') break;
    }
    await nativeDoor({ url: world.url }).post(`/v1/tasks/${task.id}/resume`);
    let last: Wire;
    for (let next = await frames.next(); !next.done; next = await frames.next()) last = next.value.value;
    expect(last.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test(`a repeat joins the stream ${verifies('idempotent.same')}`, async () => {
    const gate = `joins-${makeDoor.name}`;
    const message = { messageId: `joins-${makeDoor.name}`, skill: 'chunks', text: gate };
    const first = await door().stream(message);
    await gates.arrival(gate);
    const second = await door().stream(message);
    gates.open(gate);
    const [a, b] = await Promise.all([readAll(first), readAll(second)]);
    expect(b[0].task.id).toBe(a[0].task.id);
    expect(b.at(-1)).toEqual(a.at(-1));
    expect(gates.arrivals(gate)).toBe(1);
    const ended = await readAll(await door().stream(message));
    expect(kinds(ended)).toEqual(['task']);
  });

  test(`each cursor resumes exactly after its event ${verifies('durable.resume', 'native.replay')}`, async () => {
    const gate = `cursor-${makeDoor.name}`;
    gates.open(gate);
    const task = okOf(await door().send({ skill: 'chunks', text: gate })).task;
    const native = nativeDoor({ url: world.url });
    const all = await native.follow(task.id);
    expect(all.map((frame) => frame.value.seq)).toEqual(all.map((_, index) => index + 1));
    for (const [index, frame] of all.entries()) {
      expect(await native.follow(task.id, frame.id)).toEqual(all.slice(index + 1));
    }
    expect(await native.follow(task.id, '')).toEqual(all);
    for (const bad of ['garbage', '-1', `${all.at(-1)?.id}0`]) {
      const opened = await fetch(`${world.url}/v1/tasks/${task.id}/events`, {
        headers: { accept: 'text/event-stream', 'last-event-id': bad },
      });
      expect(opened.status, bad).toBe(400);
      expect(await opened.text()).toContain('Last-Event-ID');
    }
  });
});
