import { describe, expect, test } from 'vitest';
import { CodedError } from '../../base/errors.ts';
import { Connection } from './connection.ts';
import { BATCH_BYTES_MAX, BATCH_WRITES_MAX, WriteQueue } from './write-queue.ts';

const FULL = 13;
const BUSY = 5;
const IOERR_FSYNC = 1034;

function sqliteError(errcode: number): Error {
  return Object.assign(new Error(`result ${errcode}`), { code: 'ERR_SQLITE_ERROR', errcode });
}

/** A database in memory that counts its transactions and fails where a test says. */
class TestConnection extends Connection {
  readonly controls: string[] = [];
  /** Throws in place of the statement. */
  fail: (text: string) => void = () => {};

  constructor() {
    super(':memory:', { busyMs: 0 });
    this.exec('create table item (name text primary key) strict');
  }

  override control(text: string): void {
    this.controls.push(text);
    this.fail(text);
    super.control(text);
  }

  put(name: string): string {
    this.run('insert into item (name) values (?1)', name);
    return name;
  }

  names(): string[] {
    return this.all<{ name: string }>('select name from item order by name').map(({ name }) => name);
  }

  count(text: string): number {
    return this.controls.filter((each) => each === text).length;
  }
}

function createQueue() {
  const connection = new TestConnection();
  const fatal: Error[] = [];
  const queue = new WriteQueue(connection, (error) => fatal.push(error));
  const put = (...names: string[]) =>
    Promise.allSettled(names.map((name) => queue.write(10, () => connection.put(name))));
  return { connection, queue, fatal, put };
}

const kinds = (results: readonly PromiseSettledResult<unknown>[]): string =>
  results.map(({ status }) => status[0]).join('');

describe('a batch', () => {
  test('is what was handed in during one turn of the event loop, in one commit and in order', async () => {
    const { connection, queue, put } = createQueue();
    const order: number[] = [];
    const writes = [1, 2, 3].map((n) => queue.write(1, () => order.push(n)));
    await Promise.all([...writes, put('a', 'b')]);
    expect(order).toEqual([1, 2, 3]);
    expect(connection.controls).toEqual(['begin immediate', 'commit']);
    await put('c');
    expect(connection.count('commit')).toBe(2);
    expect(connection.names()).toEqual(['a', 'b', 'c']);
  });

  test('gathers over a few turns while each brings more, and one that is alone waits for none', async () => {
    const { connection, put } = createQueue();
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const alone = put('alone');
    await turn();
    expect(connection.count('commit')).toBe(1);
    const written: Promise<unknown>[] = [alone];
    for (let index = 0; index < 15; index += 1) {
      written.push(put(`a${index}`, `b${index}`));
      await turn();
    }
    await Promise.all(written);
    // Four turns more for each batch: not one commit for all, and far from one for each turn.
    expect(connection.count('commit')).toBe(4);
    expect(connection.names()).toHaveLength(31);
  });

  test('ends at its bounds; the rest follows in the next turns', async () => {
    const { connection, queue } = createQueue();
    await Promise.all(Array.from({ length: BATCH_WRITES_MAX * 2 + 1 }, () => queue.write(1, () => 1)));
    expect(connection.count('commit')).toBe(3);
    await Promise.all(Array.from({ length: 4 }, () => queue.write(BATCH_BYTES_MAX / 2, () => 1)));
    expect(connection.count('commit')).toBe(5);
    await Promise.all([queue.write(BATCH_BYTES_MAX * 3, () => 1), queue.write(1, () => 1)]);
    expect(connection.count('commit')).toBe(7);
  });

  test('nobody hears of his write before the commit', async () => {
    const { connection, queue } = createQueue();
    const heard = queue.write(1, () => connection.put('a')).then(() => connection.count('commit'));
    expect(await heard).toBe(1);
  });
});

describe('a write that throws', () => {
  test('before it wrote anything costs the others nothing', async () => {
    const { connection, queue, put } = createQueue();
    const refused = queue.write(1, () => {
      throw new CodedError('lease_lost');
    });
    const [others] = await Promise.all([put('a', 'b'), expect(refused).rejects.toMatchObject({ code: 'lease_lost' })]);
    expect(kinds(others)).toBe('ff');
    expect(connection.controls).toEqual(['begin immediate', 'commit']);
  });

  test('after it wrote something is undone alone', async () => {
    const { connection, queue, put } = createQueue();
    const runs: string[] = [];
    const before = put('a');
    const torn = queue.write(1, () => {
      runs.push('torn');
      connection.put('torn');
      throw new Error('a bug');
    });
    const [first, last] = await Promise.all([before, put('b'), expect(torn).rejects.toThrow('a bug')]);
    expect(kinds([...first, ...last])).toBe('ff');
    expect(connection.names()).toEqual(['a', 'b']);
    expect(runs).toHaveLength(2);
    expect(connection.count('rollback')).toBe(1);
    expect(connection.count('rollback to one_write')).toBe(1);
  });

  test('by breaking a constraint is an assertion of ours, and the others stand', async () => {
    const { connection, put } = createQueue();
    const results = await put('a', 'a', 'b');
    expect(kinds(results)).toBe('frf');
    expect(results[1]).toMatchObject({ reason: { name: 'AssertionError' } });
    expect(connection.names()).toEqual(['a', 'b']);
  });
});

describe('a transaction that SQLite undid', () => {
  test('at a statement runs again write by write, each with an answer of its own', async () => {
    const { connection, queue, put } = createQueue();
    let tries = 0;
    const taking = queue.write(1, () => {
      tries += 1;
      connection.put('taking');
      connection.exec('rollback');
      throw sqliteError(FULL);
    });
    const [others] = await Promise.all([
      put('a', 'b'),
      expect(taking).rejects.toMatchObject({ code: 'unavailable', detail: { cause: { errcode: FULL } } }),
    ]);
    expect(kinds(others)).toBe('ff');
    expect(tries).toBe(2);
    expect(connection.names()).toEqual(['a', 'b']);
    expect(connection.count('begin immediate')).toBe(4);
  });

  test('at the commit runs again write by write', async () => {
    const { connection, put } = createQueue();
    let commits = 0;
    connection.fail = (text) => {
      if (text !== 'commit') return;
      commits += 1;
      if (commits === 1 || commits === 3) throw sqliteError(FULL);
    };
    const results = await put('a', 'b', 'c');
    expect(kinds(results)).toBe('frf');
    expect(results[1]).toMatchObject({ reason: { code: 'unavailable' } });
    expect(connection.names()).toEqual(['a', 'c']);
  });
});

test('a lock of another program is an answer to all at once, and the next batch goes on', async () => {
  const { connection, put } = createQueue();
  connection.fail = (text) => {
    if (text === 'begin immediate') throw sqliteError(BUSY);
  };
  const results = await put('a', 'b');
  expect(kinds(results)).toBe('rr');
  expect(results[0]).toMatchObject({ reason: { code: 'unavailable' } });
  expect(connection.count('begin immediate')).toBe(1);
  connection.fail = () => {};
  expect(kinds(await put('c'))).toBe('f');
});

test('an I/O error at the commit ends the process: nobody knows what is durable', async () => {
  const { connection, queue, fatal, put } = createQueue();
  connection.fail = (text) => {
    if (text === 'commit') throw sqliteError(IOERR_FSYNC);
  };
  const results = await put('a', 'b');
  expect(kinds(results)).toBe('rr');
  expect(results[0]).toMatchObject({ reason: { code: 'unavailable' } });
  expect(fatal).toHaveLength(1);
  expect(fatal[0]?.cause).toMatchObject({ errcode: IOERR_FSYNC });
  connection.fail = () => {};
  await expect(queue.write(1, () => connection.put('c'))).rejects.toMatchObject({ code: 'unavailable' });
  expect(connection.count('commit')).toBe(1);
});

test('close commits what is in hand and takes no more', async () => {
  const { connection, queue, put } = createQueue();
  const inHand = put('a', 'b');
  queue.close();
  expect(connection.names()).toEqual(['a', 'b']);
  expect(kinds(await inHand)).toBe('ff');
  expect(kinds(await put('c'))).toBe('r');
  queue.close();
});
