import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Agent } from '../agent/definition.ts';
import { isLoopback } from '../auth/loopback.ts';
import { instant } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { HttpBinding } from '../bindings/http/exchange.ts';
import type { Authenticator } from '../operations/authenticator.ts';
import type { Runtime } from '../runtime/ports.ts';
import type { RuntimeSystem } from '../runtime/runtime.ts';
import type { SystemStore } from '../store/contract.ts';
import type { Config } from './config.ts';
import { createListener, OpenRequests } from './http-listener.ts';
import type { OpenedStore } from './open-store.ts';
import { createServerDoors, type ServerParts } from './server-doors.ts';

export interface ListenPlace {
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
}

interface RunningParts {
  readonly server: ServerParts;
  readonly opened: OpenedStore;
  readonly system: RuntimeSystem;
  readonly place: ListenPlace;
}

/** A server whose runtime works. Its port opens with `listen`; until then, and beside it, its doors answer as functions. */
export class RunningServer {
  readonly handle: HttpBinding;
  readonly nodeHandler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly runtime: Runtime;
  readonly store: SystemStore;
  readonly agents: readonly Agent[];
  readonly config: Config;
  readonly authenticator: Authenticator;
  readonly #parts: RunningParts;
  readonly #open = new OpenRequests();
  readonly #app: FastifyInstance;
  #listening: AddressInfo | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: RunningParts) {
    const { server } = parts;
    this.#parts = parts;
    this.runtime = server.runtime;
    this.store = server.store;
    this.agents = server.agents.all;
    this.config = server.config;
    this.authenticator = server.authenticator;
    this.handle = createServerDoors(server, () => this.#baseUrl());
    this.#app = createListener({ doors: this.handle, open: this.#open, log: server.log, newId: server.newId });
    this.nodeHandler = (request, response) => this.#app.routing(request, response);
  }

  /** The listener takes requests from here on. */
  async ready(): Promise<void> {
    await this.#app.ready();
  }

  async listen(): Promise<{ readonly url: string; readonly localUrl: string }> {
    const { host, port } = this.#parts.place;
    this.#checkExposure(host);
    try {
      await this.#app.listen({ host, port });
    } catch (error) {
      throw listenFault(error as NodeJS.ErrnoException, this.#parts.place);
    }
    this.#listening = this.#app.server.address() as AddressInfo;
    return { url: this.#baseUrl(), localUrl: this.#localUrl() };
  }

  async close(drainMaxMs: number = this.config.drainMaxSecs * 1_000): Promise<void> {
    this.#closed ??= this.#close(drainMaxMs);
    await this.#closed;
  }

  /**
   * The runtime first: it ends or hands back what runs, and every stream gets its last word while its socket is open.
   * Then the port; requests that are still waiting are told that the server cannot answer them now.
   */
  async #close(drainMaxMs: number): Promise<void> {
    const { server, system, opened } = this.#parts;
    const deadline = instant(server.clock.now() + drainMaxMs);
    await system.service.stop(deadline);
    const closed = this.#app.close();
    this.#open.abortAll(new CodedError('unavailable', { message: 'The server is stopping. Send the same again.' }));
    const inTime = await Promise.race([closed.then(() => true), this.#grace()]);
    if (!inTime) this.#app.server.closeAllConnections();
    await closed;
    await opened.close();
  }

  /** How long written answers may take to leave. */
  async #grace(): Promise<boolean> {
    await this.#parts.server.clock.sleep(FLUSH_MS, new AbortController().signal);
    return false;
  }

  /** Nobody is asked who they are: then the port is for this machine alone, unless the operator says otherwise. */
  #checkExposure(host: string): void {
    const { authenticator, config } = this.#parts.server;
    if (authenticator.name !== 'none' || config.allowAnonymous || isLoopback(host)) return;
    throw new CodedError('invalid_argument', {
      message: `Anybody who reaches ${host} could use this server, since it asks nobody who they are. Listen on 127.0.0.1, set up authentication, or allow it with --allow-anonymous.`,
    });
  }

  /** Never from a request: what a client says of the address is not trusted. */
  #baseUrl(): string {
    return this.#parts.place.publicUrl?.replace(/\/+$/, '') ?? this.#localUrl();
  }

  #localUrl(): string {
    const { host, port } = this.#parts.place;
    const isWildcard = host === '0.0.0.0' || host === '::';
    const name = isWildcard ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
    return `http://${name}:${this.#listening?.port ?? port}`;
  }
}

const FLUSH_MS = 2_000;

function listenFault(error: NodeJS.ErrnoException, { host, port }: ListenPlace): Error {
  const texts: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} on ${host} is taken by another program. Choose another, or 0 for a free one.`,
    EACCES: `Port ${port} may not be opened by this user. Choose one from 1024 on.`,
    EADDRNOTAVAIL: `${host} is no address of this machine.`,
    ENOTFOUND: `${host} is no address of this machine.`,
  };
  const message = texts[error.code ?? ''];
  return message === undefined ? error : new CodedError('unavailable', { message, cause: error });
}
