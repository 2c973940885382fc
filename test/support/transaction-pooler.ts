import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';

export interface Pooler {
  /** The database through the pooler; no password is asked. */
  readonly url: string;
  /** Runs a statement on each of the server connections, when none is in use. */
  onEachServer(text: string): Promise<readonly unknown[][]>;
  stop(): Promise<void>;
}

/** One connection to the server, lent to one client for one transaction. */
interface ServerConnection {
  readonly client: pg.Client;
  readonly socket: Socket;
}

/**
 * What pgbouncer does in transaction mode, and as unkindly as it may: a client gets a server connection for each
 * transaction, and each time another one. Whatever a client leaves on a connection, the next one finds.
 */
export async function startPooler(url: string, serverCount = 3): Promise<Pooler> {
  const servers = await Promise.all(Array.from({ length: serverCount }, () => connectServer(url)));
  const free = [...servers];
  const waiting: (() => void)[] = [];
  const lender: Lender = {
    lend: () => free.shift(),
    giveBack: (server) => {
      free.push(server);
      waiting.shift()?.();
    },
    wait: (again) => waiting.push(again),
  };
  const clients = new Set<Socket>();
  const listener = createServer({ noDelay: true }, (socket) => {
    clients.add(socket);
    socket.on('close', () => clients.delete(socket));
    socket.on('error', () => socket.destroy());
    serveClient(socket, lender);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const database = new URL(url);
  return {
    url: `postgres://${database.username}@127.0.0.1:${port}${database.pathname}`,
    onEachServer: (text) => Promise.all(servers.map(async ({ client }) => (await client.query(text)).rows)),
    async stop() {
      for (const socket of clients) socket.destroy();
      listener.close();
      await Promise.all(servers.map(({ client }) => client.end()));
    },
  };
}

async function connectServer(url: string): Promise<ServerConnection> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } };
  return { client, socket: connection.stream };
}

interface Lender {
  lend(): ServerConnection | undefined;
  giveBack(server: ServerConnection): void;
  wait(again: () => void): void;
}

/** Messages that the server answers with one `ReadyForQuery`. */
const ASKS_FOR_READY = new Set(['Q', 'S']);
const READY = 'Z';
const TERMINATE = 'X';

function serveClient(socket: Socket, lender: Lender): void {
  let server: ServerConnection | undefined;
  let restore = (): void => {};
  let readyExpected = 0;
  let isWaiting = false;
  const unsent: Buffer[] = [];
  const fromServer = messageReader((type, message) => {
    socket.write(message);
    if (type !== READY) return;
    readyExpected -= 1;
    if (readyExpected > 0 || message.toString('latin1', 5, 6) !== 'I') return;
    const idle = server;
    server = undefined;
    restore();
    if (idle !== undefined) lender.giveBack(idle);
  });
  const send = (): void => {
    if (server === undefined) {
      server = lender.lend();
      isWaiting = server === undefined;
      if (server === undefined) {
        lender.wait(send);
        return;
      }
      restore = listenAlone(server.socket, fromServer);
    }
    for (const message of unsent.splice(0)) server.socket.write(message);
  };
  const fromClient = messageReader((type, message) => {
    if (type === TERMINATE) {
      socket.end();
      return;
    }
    if (ASKS_FOR_READY.has(type)) readyExpected += 1;
    unsent.push(message);
    if (!isWaiting) send();
  });
  // The first message has no type: it names user and database.
  socket.once('data', (startup: Buffer) => {
    socket.write(greeting());
    const length = startup.readInt32BE(0);
    if (startup.length > length) fromClient(startup.subarray(length));
    socket.on('data', fromClient);
  });
}

/** Takes the socket from the client of `pg` that opened it, until the function that comes back is called. */
function listenAlone(socket: Socket, listener: (data: Buffer) => void): () => void {
  const others = socket.listeners('data') as ((data: Buffer) => void)[];
  socket.removeAllListeners('data');
  socket.on('data', listener);
  return () => {
    socket.off('data', listener);
    for (const other of others) socket.on('data', other);
  };
}

/** Authentication is done, the version, a process number of the pooler's own making, and ready. */
function greeting(): Buffer {
  const version = Buffer.from('server_version\0' + '18.0\0', 'latin1');
  const key = Buffer.alloc(8);
  key.writeInt32BE(-7, 0);
  return Buffer.concat([
    typed('R', Buffer.alloc(4)),
    typed('S', version),
    typed('K', key),
    typed(READY, Buffer.from('I', 'latin1')),
  ]);
}

function typed(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** Cuts a stream into the messages of the protocol: a letter, a length, a body. */
function messageReader(onMessage: (type: string, message: Buffer) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (data) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
    while (rest.length >= 5 && rest.length >= rest.readInt32BE(1) + 1) {
      const end = rest.readInt32BE(1) + 1;
      const message = rest.subarray(0, end);
      rest = rest.subarray(end);
      onMessage(message.toString('latin1', 0, 1), message);
    }
  };
}
