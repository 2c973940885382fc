import { createIdSource } from '../base/unique-id.ts';
import { AgentClient } from '../client/agent-client.ts';
import { type LoadedCard, loadCard } from '../client/card.ts';
import { CLIENT_VERSION, chooseInterface, openTransport, placeCredentials } from '../client/connect.ts';
import type { Exchange, HttpSettings } from '../client/http.ts';
import { CliError } from './cli-error.ts';
import { type ClientOptions, DEFAULT_AGENT } from './client-options.ts';
import type { Io } from './io.ts';

/** An agent that a command talks to. */
export interface AgentSession {
  readonly card: LoadedCard;
  readonly client: AgentClient;
  /** Fires on Ctrl-C and when `--timeout` has passed. */
  readonly signal: AbortSignal;
  readonly newId: () => string;
}

/** Reads the card, chooses the binding, places the credentials. */
export async function openAgent(io: Io, options: ClientOptions): Promise<AgentSession> {
  const signal = deadlineSignal(io, options);
  const settings = httpSettings(io, options);
  const loaded = await readAgentCard(io, options, signal);
  const face = chooseInterface(loaded.card, options.transports);
  if (options.debug) io.err(`debug: ${face.binding} ${face.protocolVersion} at ${face.url}\n`);
  const placed = placeCredentials(loaded.card.securitySchemes, credentialsOf(options));
  const transport = openTransport(
    { ...settings, headers: { ...settings.headers, ...placed.headers }, query: placed.query },
    face,
  );
  const onTrouble = (what: string) => io.err(`Warning: ${what}\n`);
  const newId = createIdSource({ clock: io.clock, random: io.random, pool: 100 });
  return { card: loaded, client: new AgentClient({ transport, clock: io.clock, onTrouble }), signal, newId };
}

export async function readAgentCard(io: Io, options: ClientOptions, signal: AbortSignal): Promise<LoadedCard> {
  const settings = httpSettings(io, options);
  const { headers } = placeCredentials({}, credentialsOf(options));
  return await loadCard({ ...settings, headers: { ...settings.headers, ...headers } }, options.agentCard, {
    signal,
    cwd: io.cwd,
  });
}

function credentialsOf({ bearer, apiKey }: ClientOptions): { readonly bearer?: string; readonly apiKey?: string } {
  return { ...(bearer === undefined ? {} : { bearer }), ...(apiKey === undefined ? {} : { apiKey }) };
}

function httpSettings(io: Io, options: ClientOptions): HttpSettings {
  return {
    fetch: io.fetch,
    clock: io.clock,
    headers: { ...options.serviceParams, 'a2a-version': options.version ?? CLIENT_VERSION },
    query: {},
    ...(options.debug ? { onExchange: (exchange: Exchange) => io.err(describe(exchange)) } : {}),
  };
}

/** Headers are never shown, for they carry the credentials; a key in the query is added after this point. */
function describe({ method, url, status, request, response, error, tookMs }: Exchange): string {
  if (response !== undefined) return `debug: < ${redact(response)}\n`;
  const outcome = error === undefined ? `HTTP ${status}` : error;
  const sent = request === undefined ? '' : `debug: > ${redact(request)}\n`;
  return `${sent}debug: ${method} ${url} → ${outcome}, ${Math.round(tookMs)} ms\n`;
}

/** Push configs carry secrets in the body. */
function redact(body: string): string {
  return body.replace(/("(?:token|credentials)"\s*:\s*)"(?:[^"\\]|\\.)*"/g, '$1"[redacted]"');
}

/** Why a command stopped: its own `--timeout`. */
const timedOut = Symbol('timed out');

function deadlineSignal(io: Io, { timeoutMs }: ClientOptions): AbortSignal {
  if (timeoutMs === undefined) return io.interrupted;
  const controller = new AbortController();
  io.clock.sleep(timeoutMs, io.interrupted).then(
    () => controller.abort(timedOut),
    () => 'interrupted before',
  );
  return AbortSignal.any([io.interrupted, controller.signal]);
}

/** What a command that was stopped by its `--timeout` reports; undefined when something else stopped it. */
export function timeoutError(
  signal: AbortSignal,
  options: ClientOptions,
  taskId: string | undefined,
): CliError | undefined {
  if (!signal.aborted || signal.reason !== timedOut) return undefined;
  const where = taskId === undefined ? '' : ` Task ${taskId} goes on.`;
  return new CliError(
    'A2ACLI_ERR_TIMEOUT',
    `Nothing final came within ${(options.timeoutMs ?? 0) / 1_000} s.${where}`,
    {
      ...(taskId === undefined ? {} : { hint: command(options, `task get --wait ${taskId}`) }),
    },
  );
}

/** A command line for the same agent, to be copied. */
export function command(options: ClientOptions, words: string): string {
  return `${options.program} ${words}${options.agentCard === DEFAULT_AGENT ? '' : ` -a ${options.agentCard}`}`;
}
